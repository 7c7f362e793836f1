"""The API described as an OpenAPI 3.1 document, for people and for programs that make clients."""

from __future__ import annotations

from typing import Any

from kcnet_core import limits

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _answer(meaning: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}


PROBLEM = _object(("error",), error={**TEXT, "description": "What was wrong, and what to do."})
REFUSALS = {
    "403": "Another site's page, or a host that is not allowed.",
    "413": "A limit was exceeded; the sentence names it.",
    "422": "What was sent cannot be used.",
    "429": "Too many requests; see Retry-After.",
    "503": "As many as may be are being answered; see Retry-After.",
}


def _operation(summary: str, answer: dict[str, Any], **more: Any) -> dict[str, Any]:
    refusals = {status: _answer(meaning, PROBLEM) for status, meaning in REFUSALS.items()}
    return {"summary": summary, "responses": {"200": answer, **refusals}, **more}


def _sent(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {kind: {"schema": schema}}}


MOLECULES = _object(
    ("molecules",),
    molecules={
        **_list(TEXT),
        "maxItems": limits.SMELLED_AT_ONCE,
        "description": "SMILES, or names of molecules that are known.",
        "examples": [["CCO", "vanillin"]],
    },
    data={"enum": ["starter", "gs_lf", "keller_2016"], "default": "starter"},
    dilution={**TEXT, "description": "One that the data have; the strongest by default."},
)
SMELLED = _object(
    ("model", "taught", "named_from", "molecules"),
    model=TEXT,
    taught=TEXT,
    named_from={**NUMBER, "description": "From this probability on, a character is "
                "named; of molecules whose ring system was never taught, from their own."},
    molecules=_list(
        _object(
            ("row", "input", "characters", "error"),
            row={"type": "integer"}, input=TEXT, name=TEXT, smiles=TEXT, formula=TEXT,
            characters={**TEXT, "description": "Those that are named, most probable first."},
            named_from=NUMBER, domain=TEXT, warning=TEXT, known=TEXT, error=TEXT, note=TEXT,
        )
        | {"additionalProperties": NUMBER, "description": "And a probability per "
           "character; intensity and pleasantness where the ratings for them are here."}
    ),
)  # fmt: skip
FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
ROWS = _object(
    ("model", "rows"),
    model={**FILE, "description": "A saved model (.kcnet)."},
    rows={**FILE, "description": "A .csv with the model's inputs as columns, or .npz with X."},
)
PREDICTED = _object(("rows",), rows=_list(_object((), prediction=TEXT)))
DATASETS = _object(
    ("datasets",),
    datasets=_list(
        _object(
            ("name", "title", "status"), name=TEXT, title=TEXT, licence=TEXT, citation=TEXT,
            status={"enum": ["bundled", "present", "download"]},
        )
    ),
)  # fmt: skip
RUN = _object(
    ("kind", "title", "state", "seconds"),
    kind=TEXT,
    title=TEXT,
    state={"enum": ["queued", "running", "paused", "done", "failed", "cancelled"]},
    fraction={"type": ["number", "null"]},
    seconds=NUMBER,
    epochs=_list({"type": "object"}),
    scores={"type": "object", "additionalProperties": {"type": ["number", "null"]}},
)
ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": TEXT,
    "description": "From the link of a run (?job=); whoever has it may watch, and nothing else.",
}


def document(prefix: str) -> dict[str, Any]:
    """The whole document; `prefix` is where the app lies on its host."""
    plain = {"200": {"description": "Text"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "KCNet Lab",
            "version": "1",
            "description": f"At most {limits.API_REQUESTS_PER_MINUTE} requests per minute and "
            f"client, {limits.API_BURST} at once.",
        },
        "servers": [{"url": prefix or "/"}],
        "paths": {
            "/api/smell": {
                "post": _operation(
                    "Odor characters of molecules", _answer("One entry per line.", SMELLED),
                    requestBody=_sent("application/json", MOLECULES),
                )
            },
            "/api/predict": {
                "post": _operation(
                    "A saved model's answers for rows",
                    _answer("One entry per row; as a table with Accept: text/csv.", PREDICTED),
                    requestBody=_sent("multipart/form-data", ROWS),
                )
            },
            "/api/datasets": {
                "get": _operation("What there is to learn from", _answer("All of it.", DATASETS))
            },
            "/api/runs/{id}": {
                "get": _operation(
                    "What whoever has its link may see of a run", _answer("Its state.", RUN),
                    parameters=[ID],
                )
            },
            "/api/openapi.json": {"get": {"summary": "This document", "responses": plain}},
            "/healthz": {"get": {"summary": "Whether the server answers", "responses": plain}},
            "/metrics": {"get": {"summary": "Counts for Prometheus", "responses": plain}},
        },
    }  # fmt: skip
