"""The command line: quick help, sentences instead of tracebacks, and the same runs as the app."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tracemalloc
import zipfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kcnet_core import __main__, datasets
from kcnet_core.commands import data as data_command
from kcnet_core.commands import predict, train
from kcnet_core.errors import DataError
from kcnet_core.experiments.run import Run
from kcnet_core.model_file import load_model, save_model
from kcnet_core.storage.safe_csv import harmless

PROJECT = Path(__file__).resolve().parents[3]


def run(*words) -> int:
    return __main__.main([str(word) for word in words])


def child(*words, **more):
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=PROJECT, capture_output=True, text=True, **more
    )


# -- the front ---------------------------------------------------------------------------------


HEAVY = ("torch", "sklearn", "scipy", "pandas", "rdkit", "streamlit")


@pytest.mark.parametrize("words", [[], ["train"], ["data"], ["predict"], ["benchmark"]])
def test_help_loads_nothing_heavy(words):
    script = (
        "import sys, runpy\n"
        f"sys.argv = ['kcnet_core', *{words!r}, '--help']\n"
        "try: runpy.run_module('kcnet_core', run_name='__main__')\n"
        f"finally: print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    ended = child("-c", script)
    assert ended.returncode == 0 and ended.stdout.startswith("usage: python -m kcnet_core")
    assert ended.stderr.strip() == ""


def test_every_command_is_listed_and_has_its_two_functions():
    text = __main__.parser_for(None).format_help()
    for name, (summary, module) in __main__.COMMANDS.items():
        assert name in text and " ".join(summary.split()) in " ".join(text.split())
        home = __import__(module, fromlist=["main"])
        assert callable(home.add_arguments) and callable(home.main)


def test_errors_are_one_sentence_and_exit_code_2(capsys):
    assert run("data", "fetch", "nothing") == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("kcnet: There is no dataset 'nothing'")
    assert captured.err.count("\n") == 1 and "Traceback" not in captured.err


def test_an_unknown_command_and_no_command_are_usage_errors(capsys):
    for words in ([], ["smel"]):
        with pytest.raises(SystemExit) as ended:
            run(*words)
        assert ended.value.code == 2
    assert "invalid choice: 'smel'" in capsys.readouterr().err


def hears_ctrl_c() -> None:
    """What is started in the background, as these tests may be, inherits to ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_ends_with_130_and_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "kcnet_core", "train", "--dataset", "digits", "--n-epochs", "1000"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hears_ctrl_c,
    )
    assert any("epoch" in process.stderr.readline() for _ in range(10)), "it should be training"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err and err.endswith("kcnet: interrupted.\n")


def test_a_reader_that_leaves_early_is_no_error():
    ended = subprocess.run(
        f"{sys.executable} -u -m kcnet_core data | true",
        shell=True,
        cwd=PROJECT,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in ended.stderr and "BrokenPipe" not in ended.stderr


# -- data --------------------------------------------------------------------------------------


def test_data_lists_every_dataset_with_its_status(capsys):
    assert run("data") == 0
    printed = capsys.readouterr().out
    for info in datasets.available():
        line = next(line for line in printed.splitlines() if line.startswith(info.name + " "))
        assert data_command.STATUS[info.status] in line and info.title in line
    assert "Looked for in:" in printed


def test_fetch_shows_progress(monkeypatch, capsys):
    def fetch(name, progress):
        assert name == "mnist"
        for done in range(0, 101):
            progress(done * 10**6, 10**8)

    monkeypatch.setattr(datasets, "fetch", fetch)
    assert run("data", "fetch", "mnist") == 0
    captured = capsys.readouterr()
    told = captured.out.splitlines()
    assert told[0] == "MNIST, 12 MB" and told[1].startswith("Terms: CC BY-SA 3.0")
    assert told[-1] == "mnist is here."
    assert len(captured.err.splitlines()) == 11, "a line per tenth where there is no terminal"
    assert "50.0 of 100.0 MB (50%)" in captured.err


def test_terms_and_checksums_can_be_read_before_anything_is_downloaded(monkeypatch, capsys):
    monkeypatch.setattr(datasets, "fetch", None)
    assert run("data", "about", "hemibrain") == 0
    told = capsys.readouterr().out
    assert told.startswith("Hemibrain v1.2, 46 MB\n")
    assert "Terms: CC BY 4.0 by Janelia's page; the DataCite record of v1.0 says CC BY-NC" in told
    assert "exported-traced-adjacencies-v1.2.tar.gz: MD5 ec1e076d15442f368fa5978b00f4a61c" in told
    assert run("data", "about", "door") == 0
    assert capsys.readouterr().out.count("SHA-256") == 3
    assert run("data", "about", "flavornet") == 0
    assert "against what this machine saw first" in capsys.readouterr().out
    assert run("data", "about", "nothing") == 2


# -- train -------------------------------------------------------------------------------------

DIGITS = ["--dataset", "digits", "--n-hidden", 40, "--device", "cpu"]


def test_every_setting_of_a_run_is_a_flag_with_the_same_default():
    args = __main__.parser_for("train").parse_args(["train"])
    assert Run(**{f.name: getattr(args, f.name) for f in fields(Run)}) == Run()


def test_train_prints_epochs_and_the_test_score_with_its_protocol(capsys):
    assert run("train", *DIGITS, "--model", "DOA", "--n-epochs", 2, "--seed", 3) == 0
    captured = capsys.readouterr()
    assert [line[:10] for line in captured.err.splitlines() if line.startswith("epoch")] == [
        "epoch    0",
        "epoch    1",
        "epoch    2",
    ]
    assert "validation accuracy 0." in captured.err
    assert captured.out.splitlines()[1].startswith("Test accuracy 0.")
    assert "protocol benchmark:" in captured.out and "seed 3" in captured.out


@pytest.mark.parametrize("model", ["KCNet", "Ensemble DOA", "ELM", "FSHN"])
def test_every_model_trains_from_the_command_line(model, capsys):
    assert run("train", *DIGITS, "--model", model, "--n-epochs", 1, "--n-submodels", 2) == 0
    captured = capsys.readouterr()
    assert "Test accuracy 0." in captured.out
    assert ("submodel  2 epoch    1" in captured.err) == (model == "Ensemble DOA")


def test_a_wiring_is_chosen_from_the_command_line(capsys):
    fields = ["--wiring", "local", "--min-field", 2, "--max-field", 4]
    assert run("train", *DIGITS, "--model", "KCNet", *fields) == 0
    assert "local wiring" in capsys.readouterr().out
    assert run("train", "--dataset", "starter", "--wiring", "local") == 2
    assert "has no pixels" in capsys.readouterr().err


def test_flags_that_mean_nothing_to_the_run_are_named(capsys):
    """Synapses count where nothing is trained into W, and DOA is the default."""
    fly = Run("door", wiring="hemibrain", synapse_counts=True)
    (told,) = train._unused(fly)
    assert told.startswith("--synapse-counts is not used by DOA") and "hemibrain wiring" in told
    assert train._unused(replace(fly, model="KCNet")) == []
    assert run("train", *DIGITS, "--model", "KCNet", "--min-synapses", 4) == 0
    assert "--min-synapses is not used by KCNet" in capsys.readouterr().err


def test_settings_out_of_range_are_named(capsys):
    assert run("train", "--n-hidden", 3) == 2
    assert "Kenyon cells must lie between" in capsys.readouterr().err
    assert run("train", "--dataset", "starter", "--pixels", "none") == 2
    assert "for the catalogue's image sets only" in capsys.readouterr().err


def test_a_run_that_would_not_fit_into_memory_is_refused_with_the_numbers(monkeypatch, capsys):
    from kcnet_core.jobs import memory

    monkeypatch.setattr(memory, "measure_memory", lambda: memory.Memory(2**28, 0))
    assert run("train", "--dataset", "digits", "--model", "KCNet", "--n-hidden", 20_000) == 2
    assert "of memory, and at most 0.1 GB may be planned" in capsys.readouterr().err


def test_a_place_that_cannot_take_the_model_is_refused_before_training(tmp_path, capsys):
    assert run("train", *DIGITS, "--save", tmp_path / "no" / "m.kcnet") == 2
    assert "is not there; make it first" in capsys.readouterr().err
    assert run("train", *DIGITS, "--save", tmp_path) == 2
    assert "is a folder" in capsys.readouterr().err


# -- predict -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits_model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "digits.kcnet"
    assert run("train", *DIGITS, "--model", "KCNet", "--quiet", "--save", path) == 0
    return path


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


def raw_pixels(dataset, rows):
    return np.clip(dataset.X[rows] * dataset.pixel_std + dataset.pixel_mean, 0, 1)


def test_a_saved_run_says_what_it_was(digits_model):
    info = load_model(digits_model).info
    assert info["run"]["n_hidden"] == 40 and info["protocol"]["name"] == "benchmark"
    assert 0.7 < info["scores"]["accuracy"] <= 1 and "torch" in info["versions"]


def test_predict_takes_raw_pixels_and_reaches_the_score_of_the_training(
    digits_model, digits, tmp_path, capsys
):
    test = np.arange(digits.n_train, len(digits.X))
    pixels = raw_pixels(digits, test)
    np.savez(tmp_path / "rows.npz", X=pixels.reshape(-1, *digits.image_shape))
    out = tmp_path / "answers.csv"
    assert run("predict", digits_model, tmp_path / "rows.npz", "-o", out) == 0
    answers = pd.read_csv(out)
    expected = load_model(digits_model).info["scores"]["accuracy"]
    assert (answers["prediction"] == digits.y[test]).mean() == pytest.approx(expected, abs=0.005)
    chances = answers.filter(like="p(").to_numpy()
    np.testing.assert_allclose(chances.sum(1), 1, atol=1e-4)
    assert (chances.argmax(1) == answers["prediction"]).all()
    bytes_ = tmp_path / "bytes.npz"
    np.savez(bytes_, X=np.round(pixels * 255).astype(np.uint8))
    assert run("predict", digits_model, bytes_) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in printed[1:]] == list(map(str, answers["prediction"]))


@pytest.fixture(scope="module")
def odor_model(tmp_path_factory) -> Path:
    from kcnet_core import KCNetClassifier
    from kcnet_core.network.scaling import FeatureScaler

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1, 10, 100]
    scaler = FeatureScaler().fit(X)
    Y = (X / [1, 10, 100] > 0).astype(int)[:, :2]
    model = KCNetClassifier(30, fan_in=2, random_state=0).fit(scaler.transform(X), Y)
    path = tmp_path_factory.mktemp("model") / "odor.kcnet"
    save_model(
        path,
        model,
        scaler=scaler,
        feature_names=["MolWt", "TPSA", "=LogP"],
        target_names=["sweet", "=musky"],
    )
    return path


def test_predict_finds_columns_by_name_and_copies_the_others(odor_model, tmp_path, capsys):
    table = tmp_path / "rows.csv"
    table.write_text("name,=LogP,TPSA,MolWt\nvanillin,9,-20,2\n=cmd(),5,20,-2\nx,1,30,3\n")
    assert run("predict", odor_model, table) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "name,prediction,p(sweet),p(=musky)"
    cells = [line.split(",") for line in printed[1:]]
    assert [row[0] for row in cells] == ["vanillin", "'=cmd()", "x"]
    assert [row[1] for row in cells] == ["sweet", "'=musky", "sweet;' =musky"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("MolWt,TPSA\n1,2\n", "lacks '=LogP' of the 3 columns"),
        ("a,b\n1,2\n", "lacks 'MolWt', 'TPSA', '=LogP' of the 3"),
        ("MolWt,TPSA,=LogP\n1,2,3\n1,two,3\n", "Line 3 of rows.csv, column 'TPSA': 'two'"),
        ("MolWt,TPSA,=LogP\n1,,3\n", "column 'TPSA': '' is not a number"),
        ("MolWt,TPSA,=LogP\n1,inf,3\n", "'inf' is not a number"),
        ("MolWt,TPSA,=LogP\n", "has no rows"),
        ("", "is not a CSV table"),
        ('a,b\n1,2,3,4\n"', "is not a CSV table"),
    ],
)
def test_tables_that_do_not_fit_are_explained(odor_model, tmp_path, capsys, content, sentence):
    table = tmp_path / "rows.csv"
    table.write_text(content)
    assert run("predict", odor_model, table) == 2
    assert sentence in capsys.readouterr().err


def test_arrays_that_do_not_fit_are_explained(odor_model, tmp_path, capsys):
    path = tmp_path / "rows.npz"
    for arrays, sentence in (
        ({"X": np.zeros((2, 4))}, "the model takes 3 numbers per row"),
        ({"X": np.zeros(3)}, "the model takes 3 numbers per row"),
        ({"X": np.array([[{}] * 3], dtype=object)}, "is not an .npz file with an array"),
        ({"X": np.array([["a"] * 3])}, "the model takes 3 numbers per row"),
        ({"X": np.array([[1.0, np.nan, 2.0]])}, "Row 0 of X"),
        ({"Y": np.zeros((2, 3))}, "an array of numbers called X"),
    ):
        np.savez(path, **arrays)
        assert run("predict", odor_model, path) == 2
        assert sentence in capsys.readouterr().err
    path.write_bytes(b"no zip")
    assert run("predict", odor_model, path) == 2
    assert "is not an .npz file" in capsys.readouterr().err
    assert run("predict", odor_model, tmp_path / "none.csv") == 2
    assert "cannot be read: No such file" in capsys.readouterr().err


def test_an_npz_that_unpacks_to_too_much_is_not_unpacked(odor_model, tmp_path, capsys, monkeypatch):
    path = tmp_path / "rows.npz"
    np.savez_compressed(path, X=np.zeros((40_000, 3)))
    assert os.path.getsize(path) < 10_000
    monkeypatch.setattr("kcnet_core.commands.predict.MAX_UNZIPPED_BYTES", 500_000)
    monkeypatch.setattr(np, "load", None)
    assert run("predict", odor_model, path) == 2
    told = capsys.readouterr().err
    assert "would have 1 MB; the limit is 0 MB (MAX_UNZIPPED_BYTES)" in told


def npy(descr, shape, body=b""):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return header.getvalue() + body


@pytest.mark.parametrize(
    "content, method, sentence",
    [
        (npy("<f8", (2, 3), bytes(48)), zipfile.ZIP_BZIP2, "pack the archive again"),
        (npy("<f8", (2, 3), bytes(48)), zipfile.ZIP_LZMA, "pack the archive again"),
        (npy("<f8", (10**12, 3)), zipfile.ZIP_DEFLATED, "announces more values than it holds"),
        (npy("|S0", (10**12, 3)), zipfile.ZIP_DEFLATED, "of no bytes"),
        (npy("<f8", (10**12, 0)), zipfile.ZIP_DEFLATED, "announces more values than it holds"),
        (npy("<f8", (-1, 3)), zipfile.ZIP_DEFLATED, "announces more values than it holds"),
        (npy([("a", "<f8")], (1, 3), bytes(24)), zipfile.ZIP_DEFLATED, "several fields"),
    ],
)
def test_an_npz_that_promises_too_much_is_a_sentence(
    content, method, sentence, odor_model, tmp_path, capsys
):
    path = tmp_path / "rows.npz"
    with zipfile.ZipFile(path, "w", method) as pack:
        pack.writestr("X.npy", content)
    assert run("predict", odor_model, path) == 2
    assert sentence in capsys.readouterr().err

    def refused():
        with pytest.raises(DataError):
            predict.read_npz(path, ("a", "b", "c"))

    assert peak_bytes(refused) < 5_000_000


def peak_bytes(work) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_rows_of_bytes_never_become_wide_all_at_once(digits_model, tmp_path, monkeypatch):
    n_rows = 100_000
    X = np.random.default_rng(0).integers(0, 256, (n_rows, 64), dtype=np.uint8)
    np.savez(tmp_path / "rows.npz", X=X)
    saved = load_model(digits_model)
    monkeypatch.setattr(predict, "CHUNK_VALUES", 64_000)
    read, others = predict.read_npz(tmp_path / "rows.npz", saved.feature_names)
    answers_bytes = n_rows * 10 * 8
    assert read.dtype == np.uint8
    peak = peak_bytes(lambda: predict.answer_table(saved, read, others))
    assert peak < X.nbytes + 3 * answers_bytes < 8 * X.nbytes
    answers = predict.answer_table(saved, read[:2000], others[:2000])
    monkeypatch.setattr(predict, "CHUNK_VALUES", 64_000_000)
    whole = predict.answer_table(saved, read[:2000], others[:2000])
    pd.testing.assert_frame_equal(answers, whole, rtol=1e-5)


def test_loading_takes_memory_by_the_size_of_the_model_file(digits_model):
    load_model(digits_model)  # what is imported is not counted
    assert peak_bytes(lambda: load_model(digits_model)) < 20 * os.path.getsize(digits_model)


@pytest.mark.parametrize("pixels", ["per_pixel", "none", "soft"])
def test_predict_scales_pixels_as_the_training_did(pixels, digits, tmp_path, capsys):
    model, rows, out = (tmp_path / name for name in ("m.kcnet", "rows.npz", "answers.csv"))
    settings = (*DIGITS, "--model", "KCNet", "--pixels", pixels)
    assert run("train", *settings, "--quiet", "--save", model) == 0
    test = np.arange(digits.n_train, len(digits.X))
    np.savez(rows, X=raw_pixels(digits, test))
    assert run("predict", model, rows, "-o", out) == 0
    share = (pd.read_csv(out)["prediction"] == digits.y[test]).mean()
    assert share == pytest.approx(load_model(model).info["scores"]["accuracy"], abs=0.005)


def test_pixels_out_of_range_are_refused(digits_model, tmp_path, capsys):
    np.savez(tmp_path / "rows.npz", X=np.full((2, 64), -0.5))
    assert run("predict", digits_model, tmp_path / "rows.npz") == 2
    assert "Pixels must lie between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("=1+1", "'=1+1"), ("@x", "'@x"), ("-2", "-2"), ("+cmd", "'+cmd"), ("a=b", "a=b"), ("", "")],
)
def test_cells_that_a_spreadsheet_would_calculate_are_made_harmless(cell, expected):
    assert harmless(cell) == expected
