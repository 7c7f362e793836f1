"""What is installed: exact versions, none of them withdrawn, none with a known weakness."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ("requirements.txt", "tests/requirements.txt")


def pins(file: str) -> list[str]:
    lines = (line.split("#")[0].strip() for line in (ROOT / file).read_text().splitlines())
    return [line for line in lines if line and not line.startswith("-r")]


@pytest.mark.parametrize("file", FILES)
def test_every_version_is_pinned(file):
    assert pins(file)
    for line in pins(file):
        assert re.fullmatch(r"[\w\-\[\]]+==\d[\w.]*", line), line


# Each lets anybody use, change and pass on what is under it, also together with code that is not.
PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|MPL|Mozilla|PSF|Python Software Foundation|Zlib|CC0|BSL-1.0|ISC|HPND"
)


def required(names: list[str]) -> dict[str, Distribution]:
    """These packages and all that they need, as far as it is installed here."""
    found: dict[str, Distribution] = {}
    todo = list(names)
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in found:
            continue
        with contextlib.suppress(PackageNotFoundError):  # only for other systems
            found[name] = distribution(name)
            needs = (need for need in found[name].requires or () if "extra ==" not in need)
            todo += [re.match(r"[\w.-]+", need).group() for need in needs]
    return found


def licence(package: Distribution) -> str:
    about = package.metadata
    classes = [c for c in about.get_all("Classifier", []) if c.startswith("License ::")]
    return about.get("License-Expression") or "; ".join(classes) or about.get("License") or ""


def test_every_dependency_is_under_a_permissive_licence():
    packages = required([line.split("==")[0] for line in pins("requirements.txt")])
    assert len(packages) > 50, "the dependencies of dependencies count too"
    terms = {
        name: re.split(r" AND |; ", re.sub(r" WITH [\w-]+", "", licence(package)))
        for name, package in packages.items()
    }
    other = {
        name: parts
        for name, parts in terms.items()
        if not all(PERMISSIVE.search(part) or "0BSD" in part for part in parts)
    }
    assert other == {}


def lowest(requirement: str) -> str:
    """A lower bound as the release that it names, with its patches."""
    name, bound = requirement.split(">=")
    return f"{name}=={bound if '.' in bound else bound + '.0'}.*"


def test_lower_bounds_are_read_as_releases():
    assert lowest("torch>=2.8") == "torch==2.8.*" and lowest("psutil>=7") == "psutil==7.0.*"


@pytest.mark.slow
def test_the_lowest_versions_that_are_allowed_pass_the_cores_tests(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = tmp_path / "venv" / "bin" / "python"
    tools = [pin for pin in pins("tests/requirements.txt") if pin.startswith(("pytest=", "hypoth"))]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    wanted = [lowest(requirement) for requirement in project["dependencies"]]
    ended = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", *wanted, *tools], capture_output=True, text=True
    )
    if ended.returncode:
        pytest.skip(f"the lowest versions cannot be had here: {ended.stderr[-300:]}")
    tested = subprocess.run(
        [python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider",
         "tests/kcnet_core/network", "tests/kcnet_core/model_file", "tests/kcnet_core/molecules"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout[-3000:]


@pytest.mark.slow
def test_no_pinned_version_has_been_withdrawn(tmp_path):
    report = tmp_path / "report.json"
    ended = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
         "--report", report, "-r", ROOT / "requirements.txt"],
        capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode:
        pytest.skip("the package registry cannot be asked from here")
    assert "yanked" not in ended.stderr
    withdrawn = [
        item["metadata"]["name"]
        for item in json.loads(report.read_text())["install"]
        if item.get("is_yanked")
    ]
    assert withdrawn == []


@pytest.mark.slow
def test_no_pinned_version_has_a_known_weakness():
    if importlib.util.find_spec("pip_audit") is None:
        pytest.skip("pip-audit is not installed")
    ended = subprocess.run(
        [sys.executable, "-m", "pip_audit", "-r", ROOT / "requirements.txt"],
        capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode and "Found" not in ended.stderr:
        pytest.skip("no advisory service can be reached from here")
    assert ended.returncode == 0, ended.stdout
