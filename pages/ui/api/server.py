"""The API beside the pages: its routes, its description, and what happens when the server ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_API_AT_ONCE, MAX_API_JSON_BYTES, MEGABYTE
from pages.ui.api import answers
from pages.ui.api.first_paint import FirstPaint
from pages.ui.api.gate import Gate, Places, problem
from pages.ui.api.openapi import document
from pages.ui.shell.address import prefix
from pages.ui.shell.draw import editor as draw
from pages.ui.shell.streamlit_workarounds import forget_closed_sessions

SECONDS_BETWEEN_TIDYINGS = 60.0
SECONDS_A_FILE_LASTS = 31_536_000  # of the editor: its name changes with its content
# What a process for runs loads before its first one: then that begins at once.
NEEDED_BY_RUNS = ("kcnet_core.cluster.train", "kcnet_core.model_file", "sklearn.metrics")
FORM = 'Send two files as a form: "model", a saved model (.kcnet), and "rows", a .csv or .npz.'
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
# Taken when all of a request is here: whoever sends slowly keeps nobody from an answer.
computing = Places(MAX_API_AT_ONCE, "are being answered")


async def smell(request: Request) -> Response:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_API_JSON_BYTES:
            raise LimitError(
                f"A question may hold {MAX_API_JSON_BYTES // MEGABYTE} MB at most; send fewer "
                "molecules."
            )
    with computing.one():
        return JSONResponse(await run_in_threadpool(answers.smell, bytes(body)))


async def predict(request: Request) -> Response:
    as_csv = "text/csv" in request.headers.get("accept", "")
    try:
        async with request.form(max_files=2, max_fields=2) as form:
            text = await _predicted(form, as_csv)
    except HTTPException as error:  # of whoever parses forms
        raise DataError(f"The form cannot be read ({error.detail.strip('.')}). {FORM}") from error
    return Response(text, media_type="text/csv" if as_csv else "application/json")


async def _predicted(form: FormData, as_csv: bool) -> str:
    parts = [form.get(name) for name in ("model", "rows")]
    files = [one for one in parts if isinstance(one, UploadFile)]
    if len(files) < len(parts):
        raise DataError(FORM)
    with computing.one():
        model, rows = [await one.read() for one in files]
        return await run_in_threadpool(answers.predicted, model, rows, as_csv)


async def datasets(_: Request) -> Response:
    return JSONResponse(await run_in_threadpool(answers.datasets))


async def run(request: Request) -> Response:
    from kcnet_core.jobs import GONE
    from pages.ui.shell import visitor_jobs

    job = await run_in_threadpool(visitor_jobs.jobs().get, request.path_params["id"])
    if job is None:
        return problem(404, GONE.partition(" What settings")[0])
    return JSONResponse(answers.run(job))


async def unknown(_: Request) -> Response:
    return problem(
        404, f"There is nothing of that name or method; see {prefix()}/api/openapi.json."
    )


async def openapi(_: Request) -> Response:
    return JSONResponse(document(prefix()))


async def health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def metrics(_: Request) -> Response:
    text = await run_in_threadpool(answers.metrics)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


async def editor(request: Request) -> Response:
    """A file of the structure editor, which also asks for styles that its wheel leaves out."""
    folder, name = draw.files(), request.path_params["name"]
    path = (folder / name).resolve() if folder else None
    if path is None or folder is None or not path.is_relative_to(folder):
        return Response(status_code=404)
    if not path.is_file():
        return Response(status_code=204 if name.endswith((".css", ".gif")) else 404)
    lasting = f"public, max-age={SECONDS_A_FILE_LASTS}" if ".cache." in name else "no-cache"
    return FileResponse(path, headers={"Cache-Control": lasting})


def routes() -> list[Route]:
    table: tuple[tuple[str, Any, str], ...] = (
        ("/api/smell", smell, "POST"),
        ("/api/predict", predict, "POST"),
        ("/api/datasets", datasets, "GET"),
        ("/api/runs/{id}", run, "GET"),
        ("/api/openapi.json", openapi, "GET"),
        ("/healthz", health, "GET"),
        ("/metrics", metrics, "GET"),
        (draw.PATH + "/{name:path}", editor, "GET"),
    )
    known = [Route(prefix() + path, answer, methods=[method]) for path, answer, method in table]
    return [*known, Route(prefix() + "/api/{rest:path}", unknown, methods=METHODS)]


def middleware() -> list[Middleware]:
    return [Middleware(Gate, prefix=f"{prefix()}/api/"), Middleware(FirstPaint)]


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Tidy up now and then; when the server is told to end, its runs are left as interrupted."""
    from kcnet_core.jobs.memory import hold_little
    from kcnet_core.jobs.process import close_processes, open_processes

    hold_little()
    open_processes(NEEDED_BY_RUNS)
    tidying = asyncio.create_task(_tidy())
    yield
    tidying.cancel()
    from pages.ui.shell import visitor_jobs

    await run_in_threadpool(visitor_jobs.jobs().shut_down)
    close_processes()


async def _tidy() -> None:
    """While nothing runs, free memory goes back to the system, also when no visitor is left."""
    from kcnet_core.jobs.memory import give_back
    from kcnet_core.jobs.process import of_server
    from pages.ui.shell import visitor_jobs

    while True:
        await asyncio.sleep(SECONDS_BETWEEN_TIDYINGS)
        forget_closed_sessions()
        status = await run_in_threadpool(lambda: visitor_jobs.jobs().status())
        if not status.running:
            await run_in_threadpool(give_back)
            if (processes := of_server()) is not None:
                await run_in_threadpool(processes.trim)
