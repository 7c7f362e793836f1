"""What is added to the document that a browser opens, and what is left alone."""

import asyncio

import pytest
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse, StreamingResponse

from pages.ui.api.first_paint import MARKUP, FirstPaint
from tests.conftest import run_aside

DOCUMENT = f"<html><body><div id='root'>{'x' * 2000}</div></body></html>"


def ask(response, accept: str, method: str = "GET") -> tuple[Headers, bytes]:
    """What a browser that takes packed answers gets of `response` behind the middleware."""
    sent: list[dict] = []
    headers = [(b"accept", accept.encode()), (b"accept-encoding", b"gzip")]
    scope = {"type": "http", "method": method, "path": "/", "headers": headers}

    async def receive():
        await asyncio.sleep(3600)

    async def send(message):
        sent.append(message)

    run_aside(FirstPaint(GZipMiddleware(response))(scope, receive, send))
    return Headers(raw=sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])


def in_parts():
    return StreamingResponse(iter([DOCUMENT[:700], DOCUMENT[700:]]), media_type="text/html")


@pytest.mark.parametrize("response", [lambda: HTMLResponse(DOCUMENT), in_parts])
def test_a_document_paints_before_its_scripts_have_come(response):
    headers, body = ask(response(), "text/html,*/*")
    assert body == DOCUMENT.encode().replace(b"</body>", MARKUP + b"</body>")
    assert int(headers["content-length"]) == len(body)


def test_what_is_no_document_or_asked_for_by_a_program_stays_as_it_is():
    script = PlainTextResponse(DOCUMENT, media_type="text/javascript")
    assert ask(script, "text/html,*/*")[1] == DOCUMENT.encode()
    assert ask(HTMLResponse(DOCUMENT), "application/json")[0]["content-encoding"] == "gzip"


def test_an_answer_without_a_body_keeps_none():
    assert ask(HTMLResponse(None, status_code=304), "text/html")[1] == b""
