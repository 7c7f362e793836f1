"""More than 100,000 damaged inputs with a fixed seed: no hang, no crash, no foreign exception.

    pytest -m slow -s tests/kcnet_core/test_fuzz.py

prints how many inputs of each kind were taken, and how many were refused with a sentence.
"""

from __future__ import annotations

import contextlib
import csv
import random
import signal
import struct
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kcnet_core import limits
from kcnet_core.datasets.uploads.columns import guess_table
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.run import Run
from tests.kcnet_core.datasets.uploads.at_once import images_dataset, table_dataset

pytestmark = pytest.mark.slow

SEED = 2021
HANG_SECONDS = 60.0  # for one input; far above every limit, so that a busy machine is no hang
N_SMILES, N_DESCRIBED, N_TABLES, N_DATASETS = 60_000, 3_000, 20_000, 300
N_MODELS, N_ARCHIVES, N_LINKS = 25_000, 3_000, 10_000
ODORANTS = Path(__file__).resolve().parents[2] / "assets" / "odorants.csv"
SMILES_PARTS = (
    *"CNOSPFIBclnosp[]()=#$%@+-.:/\\0123456789H*~ \t,;|{}<>&^'\"\x00é\u202e",
    "[C@@H]", "%99", "c1ccccc1", "[13C]", "[Fe+3]", "C(" * 30, "[*:1]", ">>", "[999C]", "C" * 200,
    "C1" * 20, "=1+1", "Cl", "Br", "[Na+].[Cl-]", "([", ")]", "-" * 50, "..", "[C@SP1]", "[2H]",
)  # fmt: skip
TABLE_PARTS = (
    b",", b";", b"\t", b"|", b"\n", b"\r\n", b"\r", b'"', b'""', b"\x00", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xe9", b"smiles", b"CCO", b"=cmd()", b"0", b"1", b"yes", b"no", b"1e999",
    b"nan", b"-1", b"sep=;",
    b"<script>", b"a" * 5_000, b"," * 600, b"\n" * 50, b'"a\nb"', b"\xf0\x9f\x8c\xb8",
)  # fmt: skip


def mutated(rng: random.Random, seed, parts, most: int = 6):
    """`seed` (text or bytes) with a few pieces cut, doubled, moved or put in."""
    for _ in range(rng.randint(1, most)):
        a, b = sorted(rng.randint(0, len(seed)) for _ in range(2))
        b = min(b, a + 40)
        match rng.randrange(5):
            case 0:
                seed = seed[:a] + seed[b:]
            case 1:
                seed = seed[:b] + seed[a:b] + seed[b:]
            case 2:
                seed = seed[:a] + rng.choice(parts) + seed[b:]
            case 3:
                seed = seed[:a] + rng.choice(parts) + seed[a:]
            case 4:
                seed = seed[a:b] + seed[:a] + seed[b:]
    return seed


@contextlib.contextmanager
def no_hang(what: object):
    def late(*_):
        raise AssertionError(f"still at work after {HANG_SECONDS:g} s: {what!r:.2000}")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Tally:
    """Outcomes of one kind of input, and the slowest."""

    def __init__(self):
        self.outcomes, self.slowest = Counter(), 0.0

    def try_input(self, content, use) -> None:
        """Call `use`; a sentence of ours is fine, any other exception fails with its input."""
        started = time.perf_counter()
        try:
            with no_hang(content):
                use(content)
        except KCNetError as error:
            assert str(error).strip(), "a refusal without words"
            self.outcomes["refused"] += 1
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error} for {content!r:.3000}")
        else:
            self.outcomes["taken"] += 1
        self.slowest = max(self.slowest, time.perf_counter() - started)


@pytest.fixture
def tally(request, capsys):
    made = Tally()
    started = time.perf_counter()
    yield made
    with capsys.disabled():
        seconds = time.perf_counter() - started
        print(
            f"\n{request.node.name}: {sum(made.outcomes.values()):,} inputs, "
            f"{dict(made.outcomes)}, {seconds:.0f} s, slowest {made.slowest:.2f} s"
        )


@pytest.fixture(scope="module")
def smiles() -> list[str]:
    with open(ODORANTS, newline="") as file:
        return [row["smiles"] for row in csv.DictReader(file)]


def lines_of(rng, smiles, n):
    return [
        mutated(rng, rng.choice(smiles), SMILES_PARTS, most=3).replace("\n", " ").replace("\r", " ")
        for _ in range(n)
    ]


def test_smiles(smiles, tally):
    from kcnet_core.molecules.read import read_smiles

    rng = random.Random(SEED)
    left, slowest_allowed = N_SMILES, limits.SECONDS_PER_MOLECULE * limits.MAX_KILLED_MOLECULES
    while left:
        lines = lines_of(rng, smiles, min(500, left))
        started = time.perf_counter()
        with no_hang(lines):
            rows = read_smiles("\n".join(lines))
        seconds = time.perf_counter() - started
        tally.slowest = max(tally.slowest, seconds)  # of 500
        assert seconds < slowest_allowed
        for row in rows:
            assert (row.molecule is None) == (row.error is not None)
            tally.outcomes["taken" if row.molecule else "refused"] += 1
        tally.outcomes["blank or comment"] += len(lines) - len(rows)
        left -= len(lines)
    assert tally.outcomes["taken"] > N_SMILES / 20, "most mutations must not be nonsense"


def test_descriptors_of_odd_molecules(smiles, tally):
    from kcnet_core.molecules.read import DESCRIPTOR_NAMES, describe, read_smiles

    rng = random.Random(SEED + 1)
    while sum(tally.outcomes.values()) < N_DESCRIBED:
        rows = [row for row in read_smiles("\n".join(lines_of(rng, smiles, 500))) if row.molecule]
        started = time.perf_counter()
        with no_hang([row.text for row in rows]):
            rows, X = describe(rows)
        tally.slowest = max(tally.slowest, time.perf_counter() - started)  # of some hundred
        good = [row for row in rows if row.error is None]
        assert X.shape == (len(good), len(DESCRIPTOR_NAMES)) and np.isfinite(X).all()
        tally.outcomes["taken"] += len(good)
        tally.outcomes["refused"] += len(rows) - len(good)


def table_seeds(rng: random.Random, smiles) -> list[bytes]:
    lines = ODORANTS.read_bytes().splitlines(keepends=True)
    some = [lines[0] + b"".join(rng.sample(lines[1:], 20)) for _ in range(5)]
    ten = smiles[:10]
    return [
        *some,
        some[0].replace(b",", b"\t").replace(b";", b", "),
        some[1].decode().encode("utf-16"),
        "\n".join(
            ["SMILES;süß;dilution", *(f"{s};{k % 2};1/{k}" for k, s in enumerate(ten))]
        ).encode("latin-1"),
        "\n".join(
            ["structure,class", *(f'"{s}","{"ab"[k % 2]}"' for k, s in enumerate(ten))]
        ).encode(),
    ]


def test_tables(smiles, tally):
    rng = random.Random(SEED + 2)
    seeds = table_seeds(rng, smiles)
    for _ in range(N_TABLES):
        content = mutated(rng, rng.choice(seeds), TABLE_PARTS)
        tally.try_input(content, guess_table)


def test_tables_that_become_datasets(smiles, tally):
    def load(content: bytes):
        data, _ = table_dataset(content, guess_table(content))
        assert np.isfinite(data.X).all() and len(data.X) == len(data.y)

    rng = random.Random(SEED + 3)
    seeds = table_seeds(rng, smiles)
    for _ in range(N_DATASETS):
        tally.try_input(mutated(rng, rng.choice(seeds), TABLE_PARTS, most=3), load)


def test_model_files(tally):
    from kcnet_core.model_file import load_model
    from tests.kcnet_core.model_file.test_model_file import LABELS, MODELS, X, resealed, saved

    def load(data: bytes):
        found = load_model(data)
        rows = np.ones((2, len(found.feature_names)), np.float32)
        with contextlib.suppress(
            DataError
        ):  # a scaler that divides by 1e-300 overflows, and says so
            found.model.predict_proba(found.inputs(rows))

    rng = random.Random(SEED + 4)
    seeds = [saved(make().fit(X, LABELS["multilabel"])) for make in MODELS.values()]
    parts = (b"\x00" * 8, b"\xff" * 8, b'"', b"}", b"null", b"1e999", b"-1", b"NaN", b"[" * 50)
    for k in range(N_MODELS):
        data = bytearray(rng.choice(seeds))
        (length,) = struct.unpack("<Q", data[:8])
        reach = length + 8 if rng.random() < 0.7 else len(data)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(reach)
            if rng.random() < 0.5:
                data[place] ^= rng.randint(1, 255)
            else:
                part = rng.choice(parts)
                data[place : place + len(part)] = part  # as long as before: offsets stay
        if rng.random() < 0.1:
            del data[rng.randrange(len(data)) :]
        tally.try_input(resealed(bytes(data)) if k % 2 else bytes(data), load)


def test_image_archives(tally):
    from tests.kcnet_core.datasets.uploads.test_images import npz, two_classes, zipped

    rng = random.Random(SEED + 5)
    pixels = np.random.default_rng(0).integers(0, 256, (12, 8, 8), dtype=np.uint8)
    seeds = [zipped(two_classes(n=4)), npz(images=pixels, labels=np.arange(12) % 2)]
    parts = (
        b"PK\x01\x02",
        b"PK\x05\x06",
        b"\xff\xff\xff\xff",
        b"\x00" * 8,
        b"../",
        b"IHDR",
        b"\x7f",
    )
    for _ in range(N_ARCHIVES):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 6)):
            place, part = rng.randrange(len(data)), rng.choice(parts)
            data[place : place + len(part)] = part
        tally.try_input(bytes(data), images_dataset)


def test_links(tally):
    rng = random.Random(SEED + 6)
    names = [*vars(Run()), *vars(Comparison())]
    values = [
        "0", "-1", "1e999", "nan", "DOA", "KCNet,ELM", "digits", "../x", "[1]", "{}", "20,40",
        '{"n_train": 10}', '{"KCNet": {"alpha": 1}}', "9" * 400, "", "true", "é\x00",
    ]  # fmt: skip
    parts = (*"0123456789-.,e{}[]\"':", "\x00", "null", "9" * 30)

    def open_link(query: dict):
        run, ignored = Run.from_query(query)
        assert Run.from_query(run.to_query()) == (run, [])
        comparison, more = Comparison.from_query(query)
        assert Comparison.from_query(comparison.to_query()) == (comparison, [])
        if ignored or more:
            raise KCNetError((ignored + more)[0])

    for _ in range(N_LINKS):
        chosen = rng.sample(names, rng.randint(1, 3))
        query = {name: mutated(rng, rng.choice(values), parts, most=2) for name in chosen}
        tally.try_input(query, open_link)
