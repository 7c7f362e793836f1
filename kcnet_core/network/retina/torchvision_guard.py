"""Import torchvision also where its compiled operators do not load (the CPU build of torch).

torchvision registers shapes for the operators `nms` and `qnms` at import and fails when its
compiled library did not define them. Declaring the two names lets its datasets, transforms and
models work; the operators themselves stay without an implementation, and nothing here calls them.
They are declared only after a failed import: declaring them beside a compiled library that does
load is an error too.
"""

from __future__ import annotations

from types import ModuleType

_declared: list[object] = []  # a torch.library.Library withdraws its operators when it is collected


def import_torchvision() -> ModuleType:
    """The torchvision package."""
    try:
        import torchvision
    except RuntimeError as error:
        if "does not exist" not in str(error):
            raise
        _declare_missing_operators()
        import torchvision
    return torchvision


def _declare_missing_operators() -> None:
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.append(library)
