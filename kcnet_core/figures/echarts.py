"""The few words of ECharts that charts are made of which change in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LEFT, TOP, BOTTOM = 52, 34, 48  # fixed, so that a growing tick label moves nothing

Points = tuple[np.ndarray, np.ndarray]  # epochs and values


def pairs(points: Points) -> list[list[float]]:
    return [[x, float(f"{y:.5g}")] for x, y in zip(*(p.tolist() for p in points), strict=True)]


def line(
    name: str, points: Points, colour: str, width: float = 2.5, dash: str = "solid", **more: Any
) -> dict:
    return {
        "type": "line", "name": name, "data": pairs(points), "color": colour, "symbolSize": 6,
        "symbol": "circle" if len(points[0]) == 1 else "none",
        "lineStyle": {"width": width, "type": dash}, **more,
    }  # fmt: skip


def last_value(points: Points, colour: str, form: str) -> dict:
    """The newest number, written at the end of its line."""
    label = {"show": True, "position": "right", "color": colour, "fontSize": 13,
             "formatter": form.format(points[1][-1])}  # fmt: skip
    end = (points[0][-1:], points[1][-1:])
    return {"type": "scatter", "name": "", "data": pairs(end), "color": colour, "symbolSize": 7,
            "label": label, "silent": True, "tooltip": {"show": False}}  # fmt: skip


def ring(name: str, points: Points, colour: str) -> dict:
    """A circle around the highest point."""
    best = [int(points[1].argmax())]
    edge = {"color": "transparent", "borderColor": colour, "borderWidth": 2}
    return {"type": "scatter", "name": name, "data": pairs((points[0][best], points[1][best])),
            "symbol": "circle", "symbolSize": 13, "itemStyle": edge}  # fmt: skip


def level(at: float, words: str, colour: str, place: str) -> dict:
    """A thin line across the whole chart."""
    line = {
        "silent": True, "symbol": "none", "animation": False, "data": [{"yAxis": at}],
        "lineStyle": {"color": colour, "width": 1, "type": "dashed"},
        "label": {"formatter": words, "position": place, "color": colour},
    }  # fmt: skip
    return {"type": "line", "name": "", "data": [], "markLine": line}


def option(
    series: list[dict],
    x_name: str,
    y_name: str,
    *,
    x: dict,
    y: dict,
    value: str,
    legend: Sequence[str] = (),
    right: int = 16,
) -> dict[str, Any]:
    """What all of these charts have in common; `value` is the format under the pointer."""
    ends = {"axisLabel": {"showMinLabel": x["min"] == int(x["min"]),
                          "showMaxLabel": x["max"] == int(x["max"])}}  # fmt: skip
    axis = {"type": "value", "nameLocation": "middle"}
    waiting = {"text": "Waiting for the first numbers", "left": "center", "top": "middle"}
    return {
        "animation": False,
        "title": {} if any(one["data"] for one in series) else waiting | {
            "textStyle": {"fontSize": 12, "fontWeight": "normal"}
        },
        "grid": {"left": LEFT, "right": right, "top": TOP, "bottom": BOTTOM,
                 "outerBoundsMode": "none"},
        "legend": {"show": bool(legend), "data": list(legend), "top": 0, "left": 0,
                   "itemWidth": 18, "itemGap": 8},
        "tooltip": {"trigger": "axis", "confine": True, "valueFormatter": value},
        "xAxis": {**axis, "name": x_name, "nameGap": 26, "splitLine": {"show": False}, **ends, **x},
        "yAxis": {**axis, "name": y_name, "nameGap": 38, "splitNumber": 4, **y},
        "series": series,
    }  # fmt: skip
