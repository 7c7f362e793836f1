"""What every retina has: it sees some images at a time, and its outputs are scaled."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kcnet_core.contracts import Steps, drain
from kcnet_core.network.blocked_matmul import run_pieces
from kcnet_core.network.devices import one_torch_thread
from kcnet_core.network.history import Progress
from kcnet_core.network.parameters import check_parameters
from kcnet_core.network.validation import check_rows
from kcnet_core.network.wiring.fields import image_shape_of

IMAGES_AT_ONCE = 10  # by one core, whose cache then still holds most of what is made of them
STEP = 200  # images between two looks at the progress


class Retina(TransformerMixin, BaseEstimator):
    """Base of the retinas. Subclasses give `_sight` and the names of the arrays they learn."""

    _state: ClassVar[tuple[str, ...]]

    def transform(self, X) -> np.ndarray:
        """What is seen in the images X (n, d), one row each, float32."""
        return drain(self.transform_steps(X))

    def transform_steps(self, X) -> Steps[Progress, np.ndarray]:
        """The same, some images at a time."""
        check_is_fitted(self, "center_")
        seen = self._sight()
        X = check_rows(self, X, reset=False)
        out = np.empty((len(X), len(self.center_)), np.float32)
        started = time.perf_counter()

        def see(part: slice) -> None:
            # Torch's own threads wait for each other: seven times the work on a busy machine.
            with one_torch_thread():
                out[part] = seen(X[part])

        for start in range(0, len(X), STEP):
            stop = min(start + STEP, len(X))
            edges = [*range(start, stop, IMAGES_AT_ONCE), stop]
            run_pieces(partial(see, slice(*pair)) for pair in pairwise(edges))
            yield Progress("retina", stop, len(X), time.perf_counter() - started)
        self._scale(out)
        return out

    def _checked(self, X, parameters: dict) -> np.ndarray:
        """The images X (n, d) to learn from, once they and the parameters are found sound."""
        check_parameters(self, parameters)
        X = check_rows(self, X, reset=True)
        self.shape_ = image_shape_of(X.shape[1], self.image_shape)
        return X

    def _sight(self) -> Callable[[np.ndarray], np.ndarray]:
        """From some images (n, d) to what is seen in them, before it is scaled."""
        raise NotImplementedError

    def _scale(self, out: np.ndarray) -> None:
        out -= self.center_
        out /= self.spread_

    def _learn_scale(self, X: np.ndarray, most: int, rng: np.random.Generator) -> None:
        """Mean and deviation of each output over at most so many of the images X (n, d)."""
        seen = drain(self.transform_steps(X[np.sort(rng.permutation(len(X))[:most])]))
        self.center_, spread = seen.mean(0), seen.std(0)
        self.spread_ = np.where(spread > 0, spread, 1).astype(np.float32)

    def _unscaled(self, n_outputs: int) -> None:
        self.center_ = np.zeros(n_outputs, np.float32)
        self.spread_ = np.ones_like(self.center_)

    def get_state(self) -> dict[str, np.ndarray]:
        """What was learned, as named arrays, for `from_state` and for model files."""
        check_is_fitted(self, "center_")
        return {name: getattr(self, name) for name in self._state}

    @classmethod
    def from_state(cls, parameters: dict, arrays: dict, **numbers: float) -> Self:
        """A fitted retina from its parameters, what `get_state` gave, and single numbers."""
        retina = cls(**parameters)
        for name, value in ({name: arrays[name] for name in cls._state} | numbers).items():
            setattr(retina, name, value)
        height, width, *depth = retina.image_shape
        retina.shape_ = (height, width, *depth, 1)[:3]
        retina.n_features_in_ = height * width * retina.shape_[2]
        return retina
