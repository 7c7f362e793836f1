"""The API answers as the pages do, with their limits and sentences, and steers nobody's run."""

from __future__ import annotations

import asyncio
import io
import json
import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from starlette.applications import Starlette
from streamlit import config

from kcnet_core import KCNetClassifier, limits
from kcnet_core.errors import refusals
from kcnet_core.jobs import JobManager
from kcnet_core.model_file import save_model
from pages.ui.api import gate, server
from pages.ui.api.openapi import document
from pages.ui.shell import visitor_jobs
from tests.conftest import run_aside


def ask(app, method, path, body=b"", client="1.2.3.4", sent=None, **headers):
    """Status, headers and body of one request, as a server would pass it on."""
    sent, got = sent or [{"type": "http.request", "body": body, "more_body": False}], []
    scope = {
        "type": "http", "http_version": "1.1", "method": method, "path": path, "root_path": "",
        "raw_path": path.encode(), "query_string": b"", "scheme": "http", "client": (client, 1),
        "server": ("lab.example", 80),
        "headers": [(name.replace("_", "-").encode(), value.encode())
                    for name, value in {"host": "lab.example", **headers}.items()],
    }  # fmt: skip

    async def receive():
        return sent.pop(0) if sent else {"type": "http.disconnect"}

    async def send(message):
        got.append(message)

    run_aside(app(scope, receive, send))
    head = {name.decode(): value.decode() for name, value in got[0]["headers"]}
    return got[0]["status"], head, b"".join(one.get("body", b"") for one in got[1:])


@pytest.fixture
def app():
    return Starlette(routes=server.routes(), middleware=server.middleware())


def smell(app, asked, **about):
    status, _, body = ask(app, "POST", "/api/smell", json.dumps(asked).encode(), **about)
    return status, json.loads(body)


def test_molecules_are_answered_as_on_the_command_line(app):
    status, answer = smell(app, {"molecules": ["vanillin", "C1CC"]})
    known, broken = answer["molecules"]
    assert status == 200 and known["smiles"] == "COc1cc(C=O)ccc1O" and 0 < known["Vanilla"] <= 1
    assert broken["characters"] == "" and "ring closure" in broken["error"]
    assert 0 < answer["named_from"] < 1 and "Starter" in answer["taught"]


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"molecules": 3}, 422, "must be a list of texts"),
        ({"molecules": []}, 422, "at least one"),
        ({"molecules": ["C"] * 41}, 413, "the limits are 40 molecules"),
        ({"molecules": ["C\r" * 41]}, 413, "the limits are 40 molecules"),
        ({"molecules": ["C" * 900] * 5}, 413, "and 4,000 characters"),
        ({"molecules": ["C"], "data": "../etc"}, 422, "must be one of starter"),
        ({"molecules": ["C"], "data": ["starter"]}, 422, "must be one of starter"),
        ({"molecules": ["C"], "dilution": {}}, 422, "must be one that the data have"),
        ([], 422, "no JSON object"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(app, asked, status, words):
    found, answer = smell(app, asked)
    assert (found, words in answer["error"]) == (status, True), answer


def test_half_a_character_is_answered_with_a_whole_one(app):
    status, answer = smell(app, {"molecules": ["\ud800"]})
    assert status == 200 and answer["molecules"][0]["error"]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"x", {"content_type": "multipart/form-data"}),
        (b"x", {"content_type": "multipart/form-data; boundary=other"}),
        (b"&".join([b"a=1"] * 9), {"content_type": "application/x-www-form-urlencoded"}),
    ],
)
def test_a_form_that_cannot_be_read_is_a_sentence(app, body, headers):
    status, _, answer = ask(app, "POST", "/api/predict", body, **headers)
    sentence = json.loads(answer)["error"]
    assert status == 422 and "cannot be read" in sentence and "two files" in sentence


def form(**files):
    parts = [
        b'--line\r\nContent-Disposition: form-data; name="%b"; filename="x"\r\n\r\n%b\r\n'
        % (name.encode(), content)
        for name, content in files.items()
    ]
    return b"".join(parts) + b"--line--\r\n"


def predict(app, body, **headers):
    kind = "multipart/form-data; boundary=line"
    return ask(app, "POST", "/api/predict", body, content_type=kind, **headers)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    X, y = np.eye(4, dtype=np.float32).repeat(5, axis=0), np.arange(20) // 5
    net = KCNetClassifier(n_hidden=50, fan_in=2, random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("model") / "small.kcnet"
    save_model(path, net, feature_names=list("abcd"), target_names=["w", "x", "y", "z"])
    return path.read_bytes()


def test_a_saved_model_answers_rows_from_a_table_and_from_an_array(app, model):
    packed = io.BytesIO()
    np.savez_compressed(packed, X=np.eye(4))
    table = b"d,c,b,a,name\n0,0,0,1,=1+1\n0,0,1,0,two\n"
    status, _, body = predict(app, form(model=model, rows=table))
    rows = json.loads(body)["rows"]
    assert status == 200 and [row["prediction"] for row in rows] == ["w", "x"]
    assert rows[0]["name"] == "'=1+1" and sum(
        v for k, v in rows[0].items() if k[0] == "p" and "(" in k
    ) == pytest.approx(1, abs=1e-4)
    status, head, body = predict(app, form(model=model, rows=packed.getvalue()), accept="text/csv")
    assert head["content-type"].startswith("text/csv")
    assert [line.split(",")[0] for line in body.decode().splitlines()] == ["prediction", *"wxyz"]


@pytest.mark.parametrize(
    ("model_file", "rows", "status", "words"),
    [
        (None, b"a,b\n1,2\n", 422, "lacks 'c', 'd'"),
        (b"\x80\x04pickle", b"a\n", 422, "model"),
        (None, b"," * limits.MAX_CSV_CELLS, 413, "MAX_CSV_CELLS"),
        (None, b"a,b,c,d\n" + b"0,0,0,1\n" * (limits.MAX_CSV_ROWS + 1), 413, "MAX_CSV_ROWS"),
        (None, b"PK\x05\x06" + bytes(18), 422, "no X"),
        (None, b"a,b,c,d" + b",e" * 20_000 + b"\n", 413, "20,004 columns"),
        (None, b"a,b,c,d\n1,2,3\n", 422, "line 2 has 3 cells, the first 4"),
        (None, b'a,b,c,d\n\n1,2,"3\n', 422, "not a CSV table"),
        (None, b'a,b,c,d\n1,2,"\n",4\n', 422, "Line 3 of rows.csv, column 'c'"),
    ],
)
def test_rows_and_models_have_the_limits_of_the_pages(app, model, model_file, rows, status, words):
    found, _, body = predict(app, form(model=model_file or model, rows=rows))
    assert (found, words in json.loads(body)["error"]) == (status, True), body


def test_numbers_wider_than_a_model_knows_are_refused(app, model):
    packed = io.BytesIO()
    np.savez(packed, X=np.full((2, 4), 1, np.longdouble))
    status, _, body = predict(app, form(model=model, rows=packed.getvalue()))
    assert status == 422 and "the model takes 4 numbers per row" in json.loads(body)["error"]


def test_columns_that_are_called_alike_are_all_answered(app, model):
    status, _, body = predict(app, form(model=model, rows=b"a,b,c,d,e,e,p(w)\n1,0,0,0,5,6,7\n"))
    (row,) = json.loads(body)["rows"]
    assert status == 200 and (row["e"], row["e (2)"], row["p(w)"]) == ("5", "6", "7")
    assert 0 < row["p(w) (2)"] <= 1


def test_a_form_without_both_files_and_a_body_beyond_the_limit_are_refused(app, monkeypatch):
    status, _, body = predict(app, form(model=b"x"))
    assert status == 422 and b"two files" in body
    monkeypatch.setattr(gate, "MAX_API_BYTES", 1000)
    status, _, body = predict(app, form(model=b"x" * 2000, rows=b""))
    assert status == 413 and b"MB at most" in body


def test_a_client_that_asks_too_often_waits_and_no_other_one_does(app, monkeypatch):
    monkeypatch.setattr(gate, "Rate", partial(gate.Rate, lambda: 0.0))  # on a slow machine, too
    before = refusals["LimitError", "pages.ui.api.gate"]
    seen = [ask(app, "GET", "/api/runs/x")[0] for _ in range(limits.API_BURST + 3)]
    assert seen == [404] * limits.API_BURST + [429] * 3
    _, head, body = ask(app, "GET", "/api/runs/x")
    assert int(head["retry-after"]) >= 1 and b"60 requests per minute" in body
    assert ask(app, "GET", "/api/runs/x", client="5.6.7.8")[0] == 404
    assert refusals["LimitError", "pages.ui.api.gate"] == before + 4


def test_a_client_gets_new_requests_with_time_and_few_clients_are_remembered(monkeypatch):
    monkeypatch.setattr(gate, "API_CLIENTS_REMEMBERED", 2)
    now = [0.0]
    rate = gate.Rate(lambda: now[0])
    while not rate.seconds_to_wait("a"):
        pass
    now[0] += 60 / limits.API_REQUESTS_PER_MINUTE
    assert not rate.seconds_to_wait("a") and rate.seconds_to_wait("a")
    for other in "bc":
        rate.seconds_to_wait(other)
    assert len(rate._left) == 2


def test_only_so_many_requests_compute_at_a_time(app, monkeypatch):
    monkeypatch.setattr(server, "computing", gate.Places(1, "are being answered"))
    with server.computing.one():
        status, head, body = ask(app, "POST", "/api/smell", b'{"molecules": ["CCO"]}')
        assert (status, head["retry-after"]) == (503, "2") and b"1 requests are being" in body
    monkeypatch.setattr(server.answers, "smell", lambda body: {})
    assert ask(app, "POST", "/api/smell", b'{"molecules": ["CCO"]}')[0] == 200


def sender(app, client: str, body: bytes | None):
    """A request as a task, whose body never comes if it is None; its messages."""
    got = []

    async def receive():
        while body is None:
            await asyncio.sleep(1)
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        got.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/smell", "client": (client, 1),
             "query_string": b"", "headers": [(b"host", b"lab.example")]}  # fmt: skip
    return asyncio.create_task(app(scope, receive, send)), got


def test_whoever_sends_slowly_keeps_nobody_from_an_answer(app, monkeypatch):
    monkeypatch.setattr(server.answers, "smell", lambda body: {})

    async def crowd() -> list[int]:
        slow = [sender(app, "1.1.1.1", None)[0] for _ in range(2)]
        await asyncio.sleep(0.05)
        seen = []
        for client in ("1.1.1.1", "2.2.2.2"):
            task, got = sender(app, client, b"{}")
            await task
            seen.append(got[0]["status"])
        for task in slow:
            task.cancel()
        return seen

    assert run_aside(crowd()) == [503, 200]


def test_a_body_that_does_not_come_is_given_up(app, monkeypatch):
    monkeypatch.setattr(gate, "API_BODY_SECONDS", 0.05)

    async def wait() -> list:
        task, got = sender(app, "1.1.1.1", None)
        await task
        return got

    started, body = run_aside(wait())
    assert started["status"] == 413 and b"has not come within" in body["body"]


def test_a_question_of_millions_of_lists_is_refused_before_it_is_read(app, monkeypatch):
    monkeypatch.setattr(server.answers, "smell", lambda body: 1 / 0)
    bomb = b'{"molecules":[' + b"[]," * (limits.MAX_API_JSON_BYTES // 3) + b"0]}"
    status, _, body = ask(app, "POST", "/api/smell", bomb)
    assert status == 413 and b"4 MB at most" in body


def held_upload(app, session: str) -> int:
    return ask(app, "PUT", f"/_stcore/upload_file/{session}/any-name")[0]


def test_only_so_many_files_wait_for_a_page_to_read_them(monkeypatch):
    async def taken(request):
        return server.JSONResponse({}, 204)

    app = Starlette(
        routes=[server.Route("/_stcore/upload_file/{session}/{name}", taken, methods=["PUT"])],
        middleware=server.middleware(),
    )
    held = {"mine": limits.MAX_HELD_FILES - 1, "full": limits.MAX_HELD_FILES}
    monkeypatch.setattr(gate, "held_files", lambda session: (held[session], 0))
    assert [held_upload(app, session) for session in ("mine", "full", "mine")] == [204, 413, 204]
    most = limits.MAX_HELD_FILE_BYTES
    monkeypatch.setattr(gate, "held_files", lambda _: (0, most - limits.MAX_UPLOAD_BYTES + 1))
    assert held_upload(app, "mine") == 413


def test_a_message_longer_than_a_page_asks_for_ends_the_connection():
    heard = []

    async def page(scope, receive, send):
        heard.append((await receive())["type"])
        heard.append((await receive())["type"])

    sizes = iter((limits.MAX_MESSAGE_BYTES, limits.MAX_MESSAGE_BYTES + 1))

    async def receive():
        return {"type": "websocket.receive", "bytes": bytes(next(sizes))}

    run_aside(gate.Gate(page, "/api/")({"type": "websocket", "path": "/"}, receive, None))
    assert heard == ["websocket.receive", "websocket.disconnect"]


def test_pages_of_other_sites_and_other_hosts_are_refused(app, monkeypatch):
    assert ask(app, "GET", "/api/datasets", origin="http://evil.example")[0] == 403
    assert ask(app, "GET", "/api/datasets", origin="http://lab.example")[0] == 200
    config.set_option("server.allowedHosts", ["other.example"])
    try:
        assert ask(app, "GET", "/api/datasets")[0] == 403
    finally:
        config.set_option("server.allowedHosts", [])


def test_an_origin_that_is_no_address_is_another_site(app):
    assert ask(app, "GET", "/api/datasets", origin="http://[::1")[0] == 403


def test_whoever_goes_before_the_request_is_there_is_no_fault_of_ours(app, caplog):
    lost = [{"type": "http.disconnect"}]
    status, _, _ = ask(app, "POST", "/api/smell", sent=lost)
    assert status == gate.CLIENT_GONE and "failed" not in caplog.text


def test_a_fault_of_ours_is_a_reference_and_no_traceback(app, monkeypatch):
    monkeypatch.setattr(server.answers, "datasets", lambda: 1 / 0)
    status, _, body = ask(app, "GET", "/api/datasets")
    assert status == 500 and re.search(rb"reference [0-9a-f]{6}", body) and b"Zero" not in body


class UploadedRun:
    dataset = "uploaded"

    def to_query(self):
        return {"dataset": "uploaded"}


def test_who_has_the_link_sees_a_run_and_cannot_steer_it(app, monkeypatch):
    manager = JobManager()
    monkeypatch.setattr(visitor_jobs, "jobs", lambda: manager)

    def steps():
        record = SimpleNamespace(
            epoch=1, submodel=0, train_metric=0.9, validation_metric=float("nan"), density=0.1
        )
        yield SimpleNamespace(stage="Training", records=[record], fraction=0.5)
        raise ValueError("secret.csv")

    job = manager.submit("owner", "train", UploadedRun(), steps, title="an uploaded dataset")
    job.wait(20)
    status, _, body = ask(app, "GET", f"/api/runs/{job.id}")
    told = json.loads(body)
    assert status == 200 and told["state"] == "failed" and told["epochs"][0]["validation"] is None
    assert told["error"].startswith("This run has failed; whoever started it")
    assert "owner" not in told and job.owner not in body.decode().split('"')
    for method in ("POST", "DELETE", "PUT", "PATCH"):
        assert ask(app, method, f"/api/runs/{job.id}")[0] == 404
    text = ask(app, "GET", "/metrics")[2].decode()
    assert 'kcnet_jobs{state="finished"} 1\n' in text and job.id not in text


def test_every_line_of_the_metrics_is_in_prometheus_form(app):
    ask(app, "GET", "/api/datasets")
    lines = ask(app, "GET", "/metrics")[2].decode().splitlines()
    form = r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="[\w.]*"(,\w+="[\w.]*")*\})? [\d.e+]+'
    assert [line for line in lines if not re.fullmatch(form, line)] == []
    assert any(line.startswith('kcnet_api_requests_total{route="datasets"') for line in lines)


def test_the_description_names_exactly_the_routes_that_there_are(app):
    described = {(path, method) for path, item in document("")["paths"].items() for method in item}
    there = {
        (route.path, method.lower())
        for route in server.routes() if not route.path.endswith(":path}")
        for method in route.methods - {"HEAD"}
    }  # fmt: skip
    assert described == there
    assert json.loads(ask(app, "GET", "/api/openapi.json")[2])["openapi"] == "3.1.0"


def test_under_a_path_of_a_proxy_everything_lies_there(monkeypatch):
    config.set_option("server.baseUrlPath", "lab/")
    try:
        app = Starlette(routes=server.routes(), middleware=server.middleware())
        assert ask(app, "GET", "/lab/healthz")[0] == 200
        seen = [ask(app, "GET", "/lab/api/runs/x")[0] for _ in range(limits.API_BURST + 1)]
    finally:
        config.set_option("server.baseUrlPath", "")
    assert seen[-1] == 429


@pytest.mark.parametrize(
    ("headers", "secure"),
    [({}, False), ({"x_forwarded_proto": "https"}, True), ({"x_forwarded_proto": "http"}, False)],
)
def test_the_owners_cookie_is_out_of_reach_of_scripts_and_secure_behind_tls(headers, secure):
    async def page(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    app = gate.Gate(page, "/api/")
    cookie = ask(app, "GET", "/smell", accept="text/html,*/*", **headers)[1]["set-cookie"]
    assert "; HttpOnly; SameSite=Strict" in cookie and ("; Secure" in cookie) == secure
    token = cookie.split("=")[1].split(";")[0]
    again = ask(app, "GET", "/", accept="text/html", cookie=f"kcnet_owner={token}")[1]
    assert again["set-cookie"].split(";")[0] == f"kcnet_owner={token}"
    forged = ask(app, "GET", "/", accept="text/html", cookie="kcnet_owner=mine")[1]["set-cookie"]
    assert "=mine" not in forged
    assert "set-cookie" not in ask(app, "GET", "/static/x.js", accept="*/*")[1]
