"""Settings, columns and numbers as a visitor reads them, instead of the names in the code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.fly.characters import SOURCES
from kcnet_core.experiments.run import NETWORK_NAMES, settings

# What `Run` does not have: settings of the baselines, and of DOA as a recipe varies it.
LABELS = {
    "stop_rule": "Stop rule",
    "restore_best": "Keeps the best wiring",
    "n_estimators": "Trees",
    "max_depth": "Largest depth",
    "min_samples_split": "Fewest rows to split",
    "min_samples_leaf": "Fewest rows in a leaf",
    "min_child_weight": "Least weight in a leaf",
    "max_features": "Inputs per split",
    "subsample": "Share of rows per tree",
    "colsample_bytree": "Share of inputs per tree",
    "gamma": "Least gain to split, γ",
    "reg_alpha": "L1 penalty",
    "reg_lambda": "L2 penalty",
    "criterion": "Criterion",
    "n_neighbors": "Neighbours",
    "weights": "Weights",
    "p": "Minkowski p",
    "C": "Penalty C",
}
COLUMNS = {
    "n_train": "Training rows",
    "n_added": "Rows added",
    "n_test": "Test rows",
    "parameters": "Trained parameters",
    "configure_seconds": "Configuration (s)",
    "fit_seconds": "Training (s)",
    "evaluate_seconds": "Evaluation (s)",
    "seconds": "Together (s)",
    "stored_bytes": "Stored bytes, 32 bits",
    "stored_bytes_8bit": "Stored bytes, 8 bits",
    "stored_form": "Hidden layer stored as",
    "accuracy_8bit": "Accuracy, 8 bits",
    "hidden": "Hidden size",
    "error": "Problem",
}
VALUES = {
    ("pixels", ""): "Standardised",
    ("pixels", "per_pixel"): "Each pixel by itself",
    ("pixels", "none"): "From 0 to 1",
    ("pixels", "half"): "From −1 to 1",
    ("pixels", "soft"): "Softened",
    ("doa_rule", "varpro"): "ours",
    ("doa_rule", "paper"): "the paper's",
    ("stop_rule", "algorithm1"): "Algorithm 1",
    ("stop_rule", "published"): "the published code's",
    ("wiring", "random"): "anywhere",
    ("wiring", "local"): "in fields",
    ("wiring", "hemibrain"): "a real fly's",
    ("wiring", "hemibrain-shuffled"): "shuffled",
    ("wiring", "hemibrain-random"): "its fan-ins",
    ("retina", ""): "None",
    ("retina", "patches"): "Learned patches",
    ("retina", "pretrained"): "Pretrained",
    ("missing", ""): "Spontaneous rate",
    ("missing", "complete"): "Complete cases",
    ("characters", ""): "Starter set",
    ("characters", "all"): "All that are here",
    **{("characters", name): CATALOGUE[name].title for name in SOURCES[1:-1]},
    ("stop_metric", 0.0): "never stops",
    ("max_depth", None): "none",
    ("device", "cpu"): "CPU",
    ("device", "cuda"): "CUDA",
    ("device", "mps"): "MPS",
}


def setting_name(name: str, model: str) -> str:
    """The paper's symbol of a setting, or its title; a baseline's learning rate is not DOA's α."""
    about = settings().get(name) if name not in LABELS else None
    if about is None:
        return LABELS.get(name, name)
    return about.symbol if about.symbol and model in NETWORK_NAMES else about.label


def setting_value(name: str, value: object) -> str:
    if (name, value) in VALUES:
        return VALUES[name, value]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def settings_in_words(chosen: Mapping, model: str) -> str:
    return " · ".join(
        f"{setting_name(name, model)} {setting_value(name, value)}"
        for name, value in chosen.items()
    )


def column_name(name: str) -> str:
    return COLUMNS.get(name, capital(name.replace("_", " ")))


def capital(text: str) -> str:
    """The text as it begins a cell, a column or a sentence."""
    return text[:1].upper() + text[1:]


def signed(value: float, digits: int = 4) -> str:
    """A difference with its sign; a hyphen is not a minus."""
    return "—" if math.isnan(value) else f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def seconds_format(seconds: Iterable[float]) -> str:
    """One number of decimals for a whole column: two digits of the shortest, at most three."""
    known = [value for value in seconds if value and math.isfinite(value)]
    decimals = 1 - math.floor(math.log10(min(known))) if known else 2
    return f"%.{min(max(decimals, 1), 3)}f"


def in_time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
