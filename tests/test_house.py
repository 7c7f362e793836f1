"""The form of the house: few modules beside the rooms, small rooms, small modules."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
MOST_BESIDE_THE_ROOMS = 6
MOST_FILES = 25
MOST_LINES = 350
PRODUCT = [*PROJECT.glob("kcnet_core/**/*.*"), *PROJECT.glob("pages/**/*.*")]
FILES = [path for path in PRODUCT if path.is_file() and "__pycache__" not in path.parts]
CLASS = re.compile(r"class _?(\w+)")


def test_few_modules_stand_beside_the_rooms():
    beside = [path.name for path in FILES if path.parent == PROJECT / "kcnet_core"]
    assert len(beside) <= MOST_BESIDE_THE_ROOMS, beside


def test_no_room_is_crowded():
    crowded = Counter(path.parent.relative_to(PROJECT) for path in FILES).most_common(1)[0]
    assert crowded[1] <= MOST_FILES, crowded


def test_no_module_is_long():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    long = {str(path.relative_to(PROJECT)): n for path, n in lengths.items() if n > MOST_LINES}
    assert not long


def test_every_module_says_what_it_is_for():
    silent = [
        str(path.relative_to(PROJECT))
        for path in FILES
        if path.suffix == ".py" and not path.read_text(encoding="utf-8").startswith('"""')
    ]
    assert not silent


def test_no_two_classes_have_one_name():
    places: dict[str, list[str]] = {}
    for path in FILES:
        if path.suffix == ".py":
            for line in path.read_text(encoding="utf-8").splitlines():
                if found := CLASS.match(line):
                    places.setdefault(found[1], []).append(str(path.relative_to(PROJECT)))
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}
