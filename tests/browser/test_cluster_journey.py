"""Two web processes at one cluster, in a real browser: Train, Compare and Smell, and what ends.

pytest -m slow tests/browser/test_cluster_journey.py
"""

from __future__ import annotations

import os
import re
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import served, wait_for
from tests.browser.test_cluster_load import dask_cluster
from tests.browser.test_compare_journey import n_fits, press

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

LONG = "/train?dataset=digits&model=DOA&n_hidden=200&n_epochs=3000&pace=full+speed"
FITS = "/compare?dataset=digits&models=KCNet,ELM&hidden=20,40&n_repeats=3"
MANY_FITS = "/compare?dataset=digits&models=KCNet,DOA,ELM&hidden=20,40,60&n_repeats=40"
MOLECULES = "\n".join("C" * n + end for n in range(1, 41) for end in ("O", "C=O", "C(=O)OC"))


@pytest.fixture
def folders(tmp_path):
    names = ("dask", "one", "two", "alone")
    for name in names:
        (tmp_path / name).mkdir()
    return {name: tmp_path / name for name in names}


@pytest.fixture
def opened(chromium):
    """A page in a browser of its own, or in that of another page."""
    contexts = []

    def make(address, beside=None):
        if beside is None:
            contexts.append(chromium.new_context(viewport={"width": 1280, "height": 900}))
        page = (beside.context if beside else contexts[-1]).new_page()
        page.set_default_timeout(90_000)
        page.goto(address)
        return page

    yield make
    for context in contexts:
        context.close()


def epoch_of(page) -> int:
    line = page.get_by_text(re.compile(r"epoch [\d,]+ of")).first.inner_text()
    return int(re.search(r"epoch ([\d,]+) of", line)[1].replace(",", ""))


def later_than(page, epoch: int) -> None:
    page.wait_for_function(
        "epoch => Number((document.body.innerText.match(/epoch ([\\d,]+) of/) ?? [0, '0'])[1]"
        ".replace(',', '')) > epoch", arg=epoch,
    )  # fmt: skip


def kill_one_at_work(address: str) -> None:
    """SIGKILL to the worker that has a run."""
    with distributed.Client(address, set_as_default=False) as client:
        at_work = client.run(_at_work)
    os.kill(next(pid for pid, n_runs in at_work.values() if n_runs), signal.SIGKILL)


def _at_work(dask_worker):
    runs = getattr(dask_worker, "kcnet_runs", None)
    return os.getpid(), len(runs._runs) if runs else 0


def test_two_web_processes_at_one_cluster(opened, screenshot, folders, shared_data):
    def web(name):
        return served(shared_data, folders[name], KCNET_CACHE=str(folders[name]),
                      KCNET_CLUSTER=address)  # fmt: skip

    with dask_cluster(folders["dask"]) as address, web("one") as one, web("two") as two:
        a_run_is_steered_watched_and_survives_a_kill(opened, screenshot, one, two, address)
        comparison_and_molecules_are_done_there(opened, screenshot, one, two)


def a_run_is_steered_watched_and_survives_a_kill(opened, screenshot, one, two, address):
    owner = opened(one + LONG)
    press(owner, "Step")
    wait_for(owner, "epoch 0 of 3,?000")
    press(owner, "Step")
    wait_for(owner, "epoch 1 of 3,?000")
    press(owner, "Resume")
    later_than(owner, 2)
    owner.wait_for_url("**job=*")
    screenshot(owner, "cluster-train")

    # At the other web process somebody else may watch, and the owner may steer.
    link = owner.url.replace(one, two)
    watcher = opened(link)
    wait_for(watcher, "You are watching a run that somebody else started")
    later_than(watcher, 2)
    expect(watcher.get_by_role("button", name="Pause")).to_be_disabled()
    screenshot(watcher, "cluster-watcher")

    kill_one_at_work(address)
    before = epoch_of(owner)
    later_than(owner, before + 5)
    later_than(watcher, before + 5)
    screenshot(owner, "cluster-train-after-kill")

    elsewhere = opened(link, beside=owner)
    press(elsewhere, "Pause")
    wait_for(owner, "Paused after")
    press(elsewhere, "Resume")
    later_than(owner, epoch_of(owner))
    press(owner, "Finish")
    wait_for(owner, "Test accuracy")
    wait_for(watcher, "Test accuracy")
    screenshot(owner, "cluster-train-finished")
    for page in (owner, watcher, elsewhere):
        assert page.get_by_text("Traceback").count() == 0
        page.close()


def comparison_and_molecules_are_done_there(opened, screenshot, one, two):
    page = opened(one + FITS)
    press(page, "Start")
    wait_for(page, r"^Done after .* 12 of 12 fits$")
    screenshot(page, "cluster-compare")
    page.close()
    page = opened(two + "/smell")
    page.get_by_label("SMILES or names, one molecule per line").fill(MOLECULES)
    wait_for(page, "120 molecules answered", 240)
    screenshot(page, "cluster-smell")
    page.close()


def test_rows_stay_when_the_scheduler_is_gone(opened, screenshot, folders, shared_data):
    with (
        dask_cluster(folders["dask"]) as address,
        served(shared_data, folders["one"], KCNET_CACHE=str(folders["one"]),
               KCNET_CLUSTER=address) as url,
    ):  # fmt: skip
        page = opened(url + MANY_FITS)
        press(page, "Start")
        wait_for(page, r"[1-9]\d* of 360 fits")
        with distributed.Client(address, set_as_default=False) as client:
            (scheduler,) = {client.run_on_scheduler(os.getpid)}
        os.kill(scheduler, signal.SIGKILL)
        wait_for(page, "scheduler is gone")
        kept = n_fits(page)
        assert 0 < kept < 360
        screenshot(page, "cluster-scheduler-gone")
        assert page.get_by_text("Traceback").count() == 0
