"""What containers and hosts read: each file names what is there, and agrees with the others."""

from __future__ import annotations

import ast
import fnmatch
import json
import re
from pathlib import Path

from pages.ui.api import server

PROJECT = Path(__file__).resolve().parents[1]
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
STEPS = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.M)).splitlines()


def steps(kind: str) -> list[str]:
    return [line.removeprefix(kind).strip() for line in STEPS if line.startswith(f"{kind} ")]


def test_whatever_is_copied_is_there_and_is_let_through():
    ignored = (PROJECT / ".dockerignore").read_text().split()
    assert ignored[0] == "*"
    through = {name[1:] for name in ignored if name.startswith("!")}
    copied = {name for line in steps("COPY") for name in line.split()[:-1]}
    assert copied == through and all((PROJECT / name).exists() for name in copied)
    for needed in ("app.py", "assets", "kcnet_core", "pages", ".streamlit", "requirements.txt"):
        assert any(fnmatch.fnmatch(needed, name) for name in copied), needed


def test_the_app_runs_as_nobody_special_and_its_health_is_a_route_that_there_is():
    (user,) = steps("USER")
    assert user != "root" and int(user) > 0
    (check,) = steps("HEALTHCHECK")
    command = json.loads(check[check.index("[") :])
    assert command[:2] == ["python", "-c"]
    ast.parse(command[2])
    assert re.search(r"\}(/\w+)", command[2]).group(1) in {route.path for route in server.routes()}
    (start,) = steps("CMD")
    assert json.loads(start)[:3] == ["streamlit", "run", "app.py"]


def test_the_dev_container_builds_a_stage_that_there_is():
    about = json.loads((PROJECT / ".devcontainer/devcontainer.json").read_text())
    stages = [line.split(" AS ")[1] for line in steps("FROM")]
    assert about["build"]["target"] in stages and about["forwardPorts"] == [8501]


def test_a_space_listens_where_the_container_does():
    head = (PROJECT / "deploy/huggingface/README.md").read_text().split("---")[1]
    about = dict(line.split(": ", 1) for line in head.strip().splitlines())
    assert about["sdk"] == "docker" and [about["app_port"]] == steps("EXPOSE")
    assert len(about["short_description"]) <= 60


def test_no_file_for_hosts_names_a_registry():
    for name in ("Dockerfile", "packages.txt", "requirements.txt", "deploy/huggingface/README.md"):
        assert "://" not in re.sub(r"http://127.0.0.1\S*", "", (PROJECT / name).read_text()), name
