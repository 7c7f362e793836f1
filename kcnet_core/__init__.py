"""KCNet: a fruit fly's sense of smell as a neural network, and everything it is compared with.

The names below are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module

_HOME = {
    "KCNetClassifier": "network.kcnet",
    "ELMClassifier": "network.elm",
    "FSHNClassifier": "network.fshn",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*globals(), *__all__]
