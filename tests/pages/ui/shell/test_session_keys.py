"""Every key that the pages use in a visitor's session is declared in one table that says why."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from pages.ui.shell import session_keys

ROOT = Path(__file__).resolve().parents[4]
TABLE = Path(inspect.getfile(session_keys))
SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
GIVEN = "the key that a widget's caller gave it"
METHODS = ("get", "pop", "setdefault")
CONSTANTS = {name: value for name, value in vars(session_keys).items() if name.isupper()}
PATTERNS = {name for name, value in vars(session_keys).items() if inspect.isfunction(value)}


def uses(source: str) -> list[tuple[int, str]]:
    """Line and spelling of every key of `st.session_state` in a module."""
    tree = ast.parse(source)
    parent = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and node.attr == "session_state"):
            continue
        above = parent[node]
        if isinstance(above, ast.Subscript):
            key = above.slice
        elif isinstance(above, ast.Compare):
            key = above.left
        elif isinstance(above, ast.Attribute) and above.attr in METHODS:
            key = parent[above].args[0]
        else:
            key = above  # used as a whole, so that nobody can tell which keys
        given = isinstance(key, ast.Name) and is_parameter(key, parent)
        found.append((node.lineno, GIVEN if given else ast.unparse(key)))
    return found


def is_parameter(name: ast.Name, parent: dict) -> bool:
    """Whether a name stands for what the caller of a function around it gave."""
    node = name
    while node := parent.get(node):
        if isinstance(node, ast.FunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if name.id in [each.arg for each in given]:
                return name.id == "key"
    return False


def declared(spelling: str, source: str) -> bool:
    """Whether a key comes from the table, or is the one that a widget's caller gave it."""
    names = {f"session_keys.{name}" for name in [*CONSTANTS, *PATTERNS]} | {
        alias.asname or alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module == session_keys.__name__
        for alias in node.names
    }
    return spelling == GIVEN or spelling.split("(")[0] in names


def test_every_key_comes_from_the_table():
    unknown = []
    for path in SOURCES:
        source, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        unknown += [
            f"{name}:{line} {spelling}"
            for line, spelling in uses(source)
            if not declared(spelling, source)
        ]
    assert not unknown, f"declare these keys in {TABLE.name}"


def test_no_key_is_declared_twice_or_for_nothing():
    assert len(set(CONSTANTS.values())) == len(CONSTANTS)
    elsewhere = "".join(path.read_text(encoding="utf-8") for path in SOURCES if path != TABLE)
    assert not [name for name in [*CONSTANTS, *PATTERNS] if name not in elsewhere]


def test_every_key_says_what_it_holds():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    bare = [name for name in CONSTANTS if not any(f"{name} = " in ln and "#" in ln for ln in lines)]
    assert not bare and all(getattr(session_keys, name).__doc__ for name in PATTERNS)


def test_an_undeclared_key_is_found():
    source = 'st.session_state["new"] = st.session_state.get(f"{x}_y") or "z" in st.session_state'
    assert sorted(spelling for _, spelling in uses(source)) == ["'new'", "'z'", "f'{x}_y'"]
    assert not any(declared(spelling, source) for _, spelling in uses(source))
