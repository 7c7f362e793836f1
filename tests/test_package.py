"""The package installs, brings what it needs, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from kcnet_core.molecules.pictures import SYSTEM_LIBRARIES

PROJECT = Path(__file__).resolve().parents[1]
BESIDE = ("LICENSE", "CITATION.cff", "README.md", "requirements.txt")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> list[str]:
    """Names of the files inside the wheel, built as pip builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", folder, PROJECT]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode and "hatchling" in built.stderr:
        pytest.skip("hatchling, which builds the wheel, cannot be had here")
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path).namelist()


def test_the_wheel_holds_the_package_and_its_assets_but_no_test_and_no_page(wheel):
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"kcnet_core"}
    for table in ("odorants", "names", "vocabulary"):
        assert f"kcnet_core/assets/{table}.csv" in wheel
    for folder in ("lessons", "results"):
        kept = {path.name for path in (PROJECT / "assets" / folder).iterdir()}
        assert {Path(name).name for name in wheel if f"/assets/{folder}/" in name} == kept
    assert not any("test" in Path(name).name or "__pycache__" in name for name in wheel)


def test_every_module_is_in_the_wheel(wheel):
    modules = {str(path.relative_to(PROJECT)) for path in PROJECT.glob("kcnet_core/**/*.py")}
    assert modules <= set(wheel)


def test_the_app_pins_what_the_package_only_bounds_from_below():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    pins = (PROJECT / "requirements.txt").read_text().split()
    pinned = {line.split("==")[0] for line in pins if "==" in line}
    for requirement in project["dependencies"]:
        name, _, bound = requirement.partition(">=")
        assert bound and name in pinned, requirement
    assert project["requires-python"] == ">=3.11"
    assert all((PROJECT / name).is_file() for name in BESIDE)


def test_whoever_installs_system_packages_gets_the_libraries_that_drawing_needs():
    needed = set(SYSTEM_LIBRARIES.values())
    assert set((PROJECT / "packages.txt").read_text().split()) == needed
