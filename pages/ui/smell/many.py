"""Many molecules: a table with drawings and errors in place, a heatmap, and a CSV to take home."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.molecules.pictures import molecule_svgs
from kcnet_core.smell.answers import Answer, Answers
from kcnet_core.smell.export import named_characters, to_csv
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table
from pages.ui.shell.safety_net import fragment
from pages.ui.smell import ratings
from pages.ui.smell.ask import take_suggestions
from pages.ui.smell.models import ChosenModel
from pages.ui.smell.one import refused

HEATMAP_ROWS = 40
TABLE_HEIGHT = 460
ROW_HEIGHT = 84
DRAWING_WIDTH = 130
COLUMNS = ("row", "input", "molecule", "name", "characters", "probability", "trust", "remark")
LEVEL_WORDS = {"inside": "inside", "edge": "at the edge", "outside": "outside"}
_CLASS = re.compile(r" class='[^']*'")
_STROKE = re.compile(
    r" style='fill:none;fill-rule:evenodd;stroke:(#\w+);stroke-width:[\d.]+px;[^']*'"
)
_HEAD = re.compile(r"<svg[^>]*?(width='[^']*' height='[^']*' viewBox='[^']*')>", re.S)
_NAMESPACE = "xmlns='http://www.w3.org/2000/svg' fill='none' stroke-width='1.6'"


def overview(chosen: ChosenModel, answers: Answers) -> Answer | None:
    """The table; the answer that the visitor picked in it, or the first."""
    given, errors = answers.given, answers.errors
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{len(given):,} molecules answered**"
            + {0: "", 1: ", 1 line is none; its row says why"}.get(
                len(errors), f", {len(errors):,} lines are none; their rows say why"
            )
        )
        st.download_button(
            "Download CSV",
            lambda: to_csv(chosen.nose, answers, chosen.offered, chosen.coverage, ratings.known()),
            file_name="kcnet-smell.csv",
            mime="text/csv",
            icon=":material/download:",
            key="smell_download",
            on_click="ignore",
            help="All probabilities with the spread over flies, trust, warnings and errors.",
        )
        offered = [row for row in errors if row.suggestion]
        if offered:
            st.button(
                f"Take {len(offered):,} suggestion{'s' if len(offered) > 1 else ''}",
                icon=":material/done_all:", key="smell_take_all",
                on_click=take_suggestions, args=(offered,),
                help="The first of the names in each remark takes the place of what was typed. "
                "Pick a row to choose for it alone.",
            )  # fmt: skip
    event = data_table(
        columns(chosen, answers),
        key=f"smell_table_{hash((chosen.key, id(answers)))}",
        hide_index=True,
        height=min(TABLE_HEIGHT, 42 + ROW_HEIGHT * len(answers.rows)),
        row_height=ROW_HEIGHT,
        on_select="rerun",
        selection_mode="single-row",
        placeholder="—",
        column_config={
            "row": st.column_config.NumberColumn("line", width=50),
            "input": st.column_config.TextColumn("as typed", width=130),
            "molecule": st.column_config.ImageColumn("molecule", width=140),
            "name": st.column_config.TextColumn("name", width=130),
            "characters": st.column_config.TextColumn("smells of", width=190),
            "probability": st.column_config.ProgressColumn(
                "first of them", min_value=0, max_value=100, format="%.0f %%", width=100
            ),
            "trust": st.column_config.TextColumn("trust", width=80),
            "remark": st.column_config.TextColumn("remark", width=310),
        },
        alt=f"Table of {len(answers.rows)} lines with their odor characters or errors",
    )
    picked = event.selection.rows
    if picked and picked[0] < len(answers.answers):
        if answers.answers[picked[0]] is None:
            refused(chosen.nose.names, answers.rows[picked[0]])
        return answers.answers[picked[0]]
    return given[0] if given else None


def columns(chosen: ChosenModel, answers: Answers) -> dict[str, list]:
    nose, offered = chosen.nose, sorted(chosen.offered) or [0]
    images = iter(thumbnails([answer.smiles for answer in answers.given], visitor.dark()))
    records = []
    for row, answer in zip(answers.rows, answers.answers, strict=True):
        remarks = [row.error]
        record = {
            "row": row.number,
            "name": row.name or None,
            "input": row.text[:200],
        }
        if answer is not None:
            known = answer.known is not None
            true = " · ".join(nose.truth(answer.known)) or "none"
            remarks = [answer.warning, f"Known: {true}." if known else "", row.note]
            said = named_characters(nose, answer, chosen.offered, chosen.coverage)
            record |= {
                "molecule": next(images),
                "characters": " · ".join(said) or "nothing it could name",
                "probability": 100 * float(answer.probabilities[offered].max()),
                "trust": LEVEL_WORDS[answer.verdict.level] if answer.verdict else None,
            }
        records.append(record | {"remark": " ".join(filter(None, remarks)) or None})
    return {name: [record.get(name) for record in records] for name in COLUMNS}


def thumbnails(smiles: Sequence[str], dark: bool) -> list[str]:
    """Drawings for an image column, less than half as heavy as RDKit writes them."""
    return [_light(svg) for svg in molecule_svgs(smiles, DRAWING_WIDTH, ROW_HEIGHT, dark)]


def _light(svg: str) -> str:
    svg = _CLASS.sub("", _STROKE.sub(r" stroke='\1'", _HEAD.sub(rf"<svg {_NAMESPACE} \1>", svg)))
    return "data:image/svg+xml," + quote(" ".join(svg.split()), safe=" =:/',;()-.<>")


@fragment
def heatmap(chosen: ChosenModel, answers: Answers) -> None:
    """Molecule by character, forty molecules at a time."""
    nose, given = chosen.nose, answers.given
    order = st.segmented_control(
        "Order", ["as given", "by likeness"], default="as given", required=True,
        key="smell_heatmap_order",
    )  # fmt: skip
    P = np.array([answer.probabilities for answer in given])
    offered = sorted(chosen.offered)
    rows = by_likeness(P) if order == "by likeness" and len(P) > 2 else np.arange(len(P))
    pages = -(-len(rows) // HEATMAP_ROWS)
    page = st.pagination(pages, key=f"smell_heatmap_{pages}") if pages > 1 else 1
    shown = rows[(page - 1) * HEATMAP_ROWS : page * HEATMAP_ROWS]
    chart(
        figures.odor_heatmap(
            P[np.ix_(shown, offered)],
            [given[k].name for k in shown],
            [nose.characters[k] for k in offered],
            dark=visitor.dark(),
        ),
        "smell_heatmap",
    )


def by_likeness(P: np.ndarray) -> np.ndarray:
    """An order in which molecules with similar profiles stand together."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    return leaves_list(linkage(np.sqrt(P), "average", optimal_ordering=len(P) <= 300))
