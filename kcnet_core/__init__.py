"""KCNet: a fruit fly's sense of smell as a neural network, and everything it is compared with.

The names below are loaded when first used, so that importing the package costs nothing.
"""

from collections.abc import Callable, Mapping
from importlib import import_module

_HOME = {
    "KCNetClassifier": "network.kcnet",
    "KCNetRegressor": "network.regression.regressor",
    "ELMClassifier": "network.elm",
    "FSHNClassifier": "network.fshn",
}

__all__ = sorted(_HOME)


def lazily(package: str, home: Mapping[str, str]) -> tuple[Callable, Callable]:
    """`__getattr__` and `__dir__` of a package whose names live in the modules of `home`."""

    def load(name: str):
        if name in home:
            return getattr(import_module(f"{package}.{home[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: [*vars(import_module(package)), *home]


__getattr__, __dir__ = lazily(__name__, _HOME)
