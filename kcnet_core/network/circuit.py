"""What every KCNet has: a wiring, Kenyon cells, DOA, ridge output weights, whatever it answers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kcnet_core.contracts import drain
from kcnet_core.errors import KCNetError
from kcnet_core.network.devices import choose_device
from kcnet_core.network.doa_settings import (
    GRADIENT_MASKS,
    GRADIENT_ROWS,
    RULES,
    STOP_RULES,
    DOASettings,
    InitialPath,
)
from kcnet_core.network.ensemble import Ensemble, FoundWiring, processes_for, reasons
from kcnet_core.network.history import time_at_work
from kcnet_core.network.kenyon import kenyon_activity, strongest_cells
from kcnet_core.network.parameters import Choice, Number, Other, check_parameters
from kcnet_core.network.readout import RidgeReadout
from kcnet_core.network.scores import KEYWORDS
from kcnet_core.network.seeds import STREAM_CHOICES, STREAM_HIDDEN, generator, seed_sequence
from kcnet_core.network.validation import all_or_nothing, prepare
from kcnet_core.network.wiring import DRAW, PLANS, Site, Wiring, allowed_fan_in
from kcnet_core.network.wiring.fields import is_image_shape
from kcnet_core.network.wiring.hemibrain import is_connectome


def _is_n_jobs(value: object) -> bool:
    return value is None or (Number(int).allows(value) and value != 0)


PARAMETERS = {  # what each may be
    "n_hidden": Number(int, least=1),
    "fan_in": Number(int, least=1),
    "inhibition": Number(float, least=0),
    "alpha": Number(float, least=0, words=("loo",)),
    "n_epochs": Number(int, least=0),
    "n_submodels": Number(int, least=1),
    "doa_rule": Choice(*RULES),
    "learning_rate": Number(float, above=0, words=(None,)),
    "stop_metric": Number(float, words=(None,)),
    "validation_fraction": Number(float, above=0, below=1),
    "batch_rows": Number(int, least=2, words=(None,)),
    "gradient_rows": Choice(*GRADIENT_ROWS),
    "gradient_mask": Choice(None, *GRADIENT_MASKS),
    "stop_rule": Choice(*STOP_RULES),
    "fan_in_penalty": Number(float, least=0),
    "fan_in_target": Number(int, least=1, words=(None,)),
    "keep_fan_in": Other("True or False", lambda value: isinstance(value, bool)),
    "wiring": Choice(*PLANS),
    "image_shape": Other("(height, width) or (height, width, channels)", is_image_shape),
    "min_field": Number(int, least=1),
    "max_field": Number(int, least=1),
    "local_share": Number(float, least=0, most=1),
    "connectome": Other("a table (cells, inputs) of whole numbers of synapses", is_connectome),
    "min_synapses": Number(int, least=1),
    "synapse_counts": Other("True or False", lambda value: isinstance(value, bool)),
    "metric": Choice(None, *KEYWORDS),
    "n_jobs": Other("a whole number other than 0 (-1: all cores) or None", _is_n_jobs),
}


class KCNetCircuit(RidgeReadout):
    """Base of `KCNetClassifier`, whose docstring has the parameters, and of `KCNetRegressor`."""

    _parameters: dict[str, Any] = PARAMETERS

    def __init__(
        self,
        n_hidden=2000,
        fan_in=7,
        inhibition=1.0,
        alpha=1.0,
        n_epochs=0,
        n_submodels=1,
        doa_rule="varpro",
        learning_rate=None,
        stop_metric=None,
        validation_fraction=1 / 6,
        batch_rows=None,
        gradient_rows="auto",
        gradient_mask=None,
        stop_rule="algorithm1",
        restore_best=True,
        fan_in_penalty=0.0,
        fan_in_target=None,
        keep_fan_in=False,
        wiring="random",
        image_shape=None,
        min_field=5,
        max_field=16,
        local_share=1.0,
        connectome=None,
        min_synapses=3,
        synapse_counts=False,
        metric=None,
        n_jobs=None,
        device="auto",
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.fan_in = fan_in
        self.inhibition = inhibition
        self.alpha = alpha
        self.n_epochs = n_epochs
        self.n_submodels = n_submodels
        self.doa_rule = doa_rule
        self.learning_rate = learning_rate
        self.stop_metric = stop_metric
        self.validation_fraction = validation_fraction
        self.batch_rows = batch_rows
        self.gradient_rows = gradient_rows
        self.gradient_mask = gradient_mask
        self.stop_rule = stop_rule
        self.restore_best = restore_best
        self.fan_in_penalty = fan_in_penalty
        self.fan_in_target = fan_in_target
        self.keep_fan_in = keep_fan_in
        self.wiring = wiring
        self.image_shape = image_shape
        self.min_field = min_field
        self.max_field = max_field
        self.local_share = local_share
        self.connectome = connectome
        self.min_synapses = min_synapses
        self.synapse_counts = synapse_counts
        self.metric = metric
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state

    def fit_steps(self, X, y, sample_weight=None, groups=None, *, matrices=False, progress=False):
        """Fit step by step: a generator of one `EpochRecord` per epoch and submodel.

        The model is fitted once the generator is exhausted. With DOA, epoch 0 describes the initial
        wiring, and submodels take turns. Without DOA there is a single record of epoch 0, whose
        validation metric is the leave-one-out one.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `fit`.
        matrices : bool, default=False
            Fill W and S of every record.
        progress : bool, default=False
            Also yield `Progress` records during long stages.
        """
        return all_or_nothing(self, self._steps(X, y, sample_weight, groups, matrices, progress))

    def end_search(self) -> None:
        """Let DOA end early: called between two steps of `fit_steps`, which then goes on to the
        output weights as if `n_epochs` were the epochs made so far."""
        self._search_ended = True

    def fit(self, X, y, sample_weight=None, groups=None):
        drain(all_or_nothing(self, self._steps(X, y, sample_weight, groups, n_jobs=self.n_jobs)))
        return self

    fit.__doc__ = RidgeReadout.fit.__doc__

    def _steps(self, X, y, sample_weight, groups, matrices=False, progress=False, n_jobs=None):
        check_parameters(self, self._parameters)
        X, Y, w, groups, code = prepare(self, X, y, sample_weight, groups)
        fan_in = allowed_fan_in(self.fan_in, X.shape[1])
        seed = seed_sequence(self.random_state)
        started = time.perf_counter()
        parts = self.sample_parts(X.shape[1], fan_in, seed)
        timings = {"wiring": time.perf_counter() - started}
        found: list[FoundWiring] = []
        if self.n_epochs:
            started = time.perf_counter()
            ensemble = self._ensemble(parts, X, Y, w, groups, code, fan_in, seed)
            processes = processes_for(n_jobs, len(parts))
            if processes > 1 and ensemble.device.type == "cpu":
                found = ensemble.at_once(processes)
                timings["doa"] = time.perf_counter() - started
            else:
                self._search_ended = False
                turns = ensemble.in_turns(matrices, lambda: self._search_ended, progress)
                found = yield from time_at_work(turns, timings, "doa")
        history = [record for one in found for record in one.history]
        history.sort(key=lambda record: (record.epoch, record.submodel))
        self._begin(X, code, seed, timings)
        self.wiring_ = Wiring.concatenate([one.wiring for one in found] or parts)
        self.inhibition_ = self.inhibition  # set_params does not change what was learned
        self.scores_ = np.concatenate([one.scores for one in found]) if found else None
        self.stopped_ = reasons(found)
        record = yield from self._read_out(X, Y, w, self.wiring_.density, progress)
        if self.scores_ is not None:
            self.n_trained_parameters_ += self.scores_.size
        else:
            history.append(record)
            yield replace(record, W=self.weights_) if matrices else record
        self.history_ = history

    def sample_parts(self, n_inputs, fan_in, seed) -> list[Wiring]:
        """The first wiring of each submodel; cells are shared out as evenly as possible."""
        if self.n_submodels > self.n_hidden:
            raise KCNetError(
                f"{self.n_submodels} submodels cannot share {self.n_hidden} cells: "
                f"lower n_submodels or raise n_hidden."
            )
        cells = [len(part) for part in np.array_split(np.arange(self.n_hidden), self.n_submodels)]
        site, draw = Site.of(self, n_inputs, fan_in), DRAW[self.wiring]
        return [draw(n, site, generator(seed, STREAM_HIDDEN, k)) for k, n in enumerate(cells)]

    def _ensemble(self, parts, X, Y, w, groups, code, fan_in, seed) -> Ensemble:
        device = choose_device(self.device)
        # Torch takes only arrays that could be written to, though nothing here does.
        Y = self._search_targets(Y, w)
        X, Y, w = (np.require(a, np.float32, ["C", "W"]) for a in (X, Y, w))
        rng = generator(seed, STREAM_CHOICES)
        start = InitialPath(X, Y, w, groups, self.inhibition, rng, device)
        metric = self._metric_for(code)
        settings = DOASettings.of(self, start, parts, fan_in, metric, code.kind)
        self.doa_notes_ = settings.describe()
        return Ensemble(X, Y, w, groups, parts, settings, seed, device)

    def _search_targets(self, Y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """What DOA learns of targets Y (n, columns) with weights w (n,)."""
        return Y

    def _start_partial(self, X, code):
        check_parameters(self, self._parameters)
        if self.n_epochs:
            raise KCNetError(
                f"partial_fit cannot begin a model with n_epochs={self.n_epochs}: DOA needs all "
                f"rows at once. Call fit first (partial_fit then keeps the learned wiring), or "
                f"set n_epochs=0."
            )
        seed = seed_sequence(self.random_state)
        parts = self.sample_parts(X.shape[1], allowed_fan_in(self.fan_in, X.shape[1]), seed)
        self._begin(X, code, seed, {})
        self.wiring_, self.inhibition_ = Wiring.concatenate(parts), self.inhibition
        self.scores_, self.stopped_, self.history_ = None, "", []

    def _activity(self, X, out=None):
        return kenyon_activity(self.wiring_, X, self.inhibition_, out)

    @property
    def weights_(self) -> np.ndarray:
        """W (B, d) as 0/1, known as soon as it is drawn."""
        check_is_fitted(self, "wiring_")
        return self.wiring_.matrix()

    @property
    def fields_(self) -> np.ndarray | None:
        """Rectangles (B, 4) of local wiring."""
        check_is_fitted(self)
        return None if self.wiring_.fields is None else self.wiring_.fields.boxes

    def tags(self, X, fraction=0.05) -> np.ndarray:
        """Sparse binary tag (n, B) of each row: its most active cells, a locality-sensitive hash.

        Parameters
        ----------
        X : array of shape (n, d)
        fraction : float, default=0.05
            Share of cells in a tag, as in the fly. Silent cells never join.
        """
        if not 0 < fraction <= 1:
            raise KCNetError(f"fraction must lie above 0 and at most at 1; got {fraction}.")
        chunks = [strongest_cells(H.T.cpu().numpy(), fraction) for H in self._chunks(X)]
        return np.concatenate(chunks)
