"""The running server refuses other sites, forged uploads and odd paths."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import pytest

OTHER_SITE = "http://other-site.example"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def ask(app_url: str, method: str, path: str, headers=None, body=None):
    connection = http.client.HTTPConnection(urlsplit(app_url).netloc, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        body = b"" if answer.status == 101 else answer.read()
        return answer.status, dict(answer.getheaders()), body
    finally:
        connection.close()


def test_another_site_cannot_open_a_session(app_url):
    assert ask(app_url, "GET", "/_stcore/stream", UPGRADE | {"Origin": app_url})[0] == 101
    assert ask(app_url, "GET", "/_stcore/stream", UPGRADE | {"Origin": OTHER_SITE})[0] == 403


def test_another_site_may_not_read_answers(app_url):
    for path in ("/_stcore/health", "/_stcore/host-config", "/"):
        headers = ask(app_url, "GET", path, {"Origin": OTHER_SITE})[1]
        assert headers.get("Access-Control-Allow-Origin") not in ("*", OTHER_SITE), path


@pytest.mark.parametrize("forged", [{}, {"Cookie": "_streamlit_xsrf=x", "X-Xsrftoken": "x"}])
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_an_upload_without_the_browsers_own_token_is_refused(app_url, method, forged):
    path = "/_stcore/upload_file/session/file"
    status, _, words = ask(app_url, method, path, forged, body=b"content")
    assert status == 403 and b"XSRF" in words


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/media/../../app.py", "/app.py",
             "/app/static/../app.py", "/component/../app.py", "/.streamlit/config.toml"],
)  # fmt: skip
def test_no_path_serves_a_file_of_the_machine(app_url, path):
    _, _, body = ask(app_url, "GET", path)
    assert b"root:" not in body and b"st.navigation" not in body and b"[server]" not in body


def test_who_opens_a_page_gets_a_token_that_no_script_can_read(app_url):
    headers = ask(app_url, "GET", "/", {"Accept": "text/html"})[1]
    cookie = next(value for name, value in headers.items() if name.lower() == "set-cookie")
    assert cookie.startswith("kcnet_owner=") and "HttpOnly" in cookie


def test_the_api_lies_beside_the_pages(app_url):
    assert ask(app_url, "GET", "/healthz")[0] == 200
    status, _, body = ask(app_url, "GET", "/api/nothing")
    assert status == 404 and b"openapi.json" in body
    assert b"kcnet_jobs" in ask(app_url, "GET", "/metrics")[2]
    refused = {"Origin": OTHER_SITE, "Content-Type": "application/json"}
    assert ask(app_url, "POST", "/api/smell", refused, b"{}")[0] == 403
