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
        if isinstance(key, ast.Name) and is_parameter(key, parent):
            found.append((node.lineno, GIVEN))
        else:
            found += [(node.lineno, ast.unparse(one)) for one in walked(key, parent, tree)]
    return found


def walked(key: ast.expr, parent: dict, tree: ast.Module) -> list[ast.expr]:
    """The keys that a loop's variable stands for; any other key itself."""
    node = key
    while isinstance(key, ast.Name) and (node := parent.get(node)):
        for loop in [node] if isinstance(node, ast.For) else getattr(node, "generators", ()):
            names = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
            places = [k for k, name in enumerate(names) if ast.unparse(name) == key.id]
            if places:
                rows = elements(loop.iter, tree)
                return [row.elts[places[0]] for row in rows] if len(names) > 1 else rows
    return [key]


def elements(listed: ast.expr, tree: ast.Module) -> list[ast.expr]:
    """What a tuple written out holds, also one of the module's own tables, or a part of such."""
    tables = {
        ast.unparse(line.targets[0]): line.value
        for line in tree.body
        if isinstance(line, ast.Assign)
    }
    match listed:
        case ast.Name(id=name) if name in tables:
            return elements(tables[name], tree)
        case ast.Starred(value=value):
            return elements(value, tree)
        case ast.Tuple(elts=each) | ast.List(elts=each):
            return [
                one
                for part in each
                for one in (elements(part, tree) if isinstance(part, ast.Starred) else [part])
            ]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="values" | "items" as what)):
            table = tables[name]
            pairs = zip(table.keys, table.values, strict=True)
            return table.values if what == "values" else [ast.Tuple([*pair]) for pair in pairs]
    return [listed]


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


def test_the_keys_that_a_loop_walks_through_are_found():
    source = """
TABLE = {"a": session_keys.RUN, "b": "new"}
OTHERS = (session_keys.PACE,)
for key in (*TABLE.values(), *OTHERS):
    st.session_state[key] = 1
for name, held in TABLE.items():
    st.session_state.get(held)
for unknown in keys():
    st.session_state.pop(unknown)
"""
    found = [spelling for _, spelling in uses(source)]
    twice = ["'new'", "session_keys.RUN"] * 2
    assert sorted(found) == sorted([*twice, "session_keys.PACE", "keys()"])
    assert {one for one in found if not declared(one, source)} == {"'new'", "keys()"}
