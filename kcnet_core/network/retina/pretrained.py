"""torchvision's networks, taught with millions of photographs, as a retina."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from kcnet_core.errors import DataError
from kcnet_core.network.parameters import Choice, Number, Other
from kcnet_core.network.retina.retina import Retina
from kcnet_core.network.seeds import generator, seed_sequence
from kcnet_core.network.wiring.fields import is_image_shape
from kcnet_core.storage.folders import data_folders

FOLDER = "retina"  # in a data folder
NETWORKS = {"squeezenet1_1": 512, "resnet18": 512}  # and how many features each gives
PARAMETERS = {
    "network": Choice(*NETWORKS),
    "side": Number(int, least=32, most=224),
    "pixel_mean": Number(float),
    "pixel_std": Number(float, above=0),
    "image_shape": Other("(height, width) or (height, width, channels)", is_image_shape),
}
# What the networks were taught with, for red, green and blue from 0 to 1.
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
IMAGES_FOR_SCALE = 1_000  # by which the outputs are scaled
STATE = ("center_", "spread_")


def published(network: str) -> str:
    """Where the weights of a network are published; the name holds the start of their SHA-256."""
    from kcnet_core.network.retina.torchvision_guard import import_torchvision

    return import_torchvision().models.get_model_weights(network).IMAGENET1K_V1.url


def weights_file(network: str) -> Path | None:
    """The weights of a network in the first data folder that has them."""
    places = (folder / FOLDER / Path(published(network)).name for folder in data_folders())
    return next((path for path in places if path.is_file()), None)


@lru_cache(maxsize=1)
def _eyes(network: str, path: Path) -> torch.nn.Module:
    """The network without the layer that names what it saw."""
    from kcnet_core.network.retina.torchvision_guard import import_torchvision

    model = getattr(import_torchvision().models, network)()
    try:
        # Of tensors only: whatever else a pickle may hold is refused.
        model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises nearly everything on damaged files
        raise DataError(
            f"{path.name} does not hold the weights of {network}. Delete it and download it again."
        ) from error
    if network == "resnet18":
        model.fc = torch.nn.Identity()
        return model.eval()
    pool = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    return torch.nn.Sequential(model.features, pool).eval()


class PretrainedRetina(Retina):
    """What a network that was taught with ImageNet sees in images, before it names it.

    Its labels are not those of the data, but it was taught with labels; `PatchRetina` was not.

    Parameters
    ----------
    network : {"squeezenet1_1", "resnet18"}, default="squeezenet1_1"
        Its weights must lie in a data folder (`kcnet_core.datasets.sources.fetch_weights`).
    side : int, default=96
        Images are enlarged to so many pixels a side.
    pixel_mean, pixel_std : float, default=0 and 1
        Inputs times pixel_std plus pixel_mean are pixels from 0 to 1.
    image_shape : (height, width) or (height, width, channels), optional
        As in `PatchRetina`.
    random_state : int, RandomState, Generator or None
        Chooses the images by which the outputs are scaled.

    Attributes
    ----------
    center_, spread_ : ndarray of shape (512,)
        Mean and deviation of each output over (at most 1,000 of) the images fitted to.
    shape_ : (height, width, channels)
    n_features_in_ : int
    """

    _state = STATE

    def __init__(
        self,
        network="squeezenet1_1",
        side=96,
        pixel_mean=0.0,
        pixel_std=1.0,
        image_shape=None,
        random_state=None,
    ):
        self.network = network
        self.side = side
        self.pixel_mean = pixel_mean
        self.pixel_std = pixel_std
        self.image_shape = image_shape
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn the scale of the outputs from images X (n, d); y is not looked at."""
        X = self._checked(X, PARAMETERS)
        self._unscaled(NETWORKS[self.network])
        self._learn_scale(X, IMAGES_FOR_SCALE, generator(seed_sequence(self.random_state)))
        return self

    def _sight(self) -> Callable[[np.ndarray], np.ndarray]:
        path = weights_file(self.network)
        if path is None:
            raise DataError(
                f"The weights of {self.network} are not on this machine yet: train with the "
                f"pretrained retina where there is a network connection, or put "
                f"{Path(published(self.network)).name} into the folder {FOLDER} of the one that "
                "KCNET_DATA names."
            )
        eyes = _eyes(self.network, path)

        def seen(X: np.ndarray) -> np.ndarray:
            with torch.inference_mode():
                return eyes(self._enlarged(X)).numpy()

        return seen

    def _enlarged(self, X: np.ndarray) -> torch.Tensor:
        images = torch.from_numpy(np.ascontiguousarray(X, np.float32)).reshape(-1, *self.shape_)
        images = (images * self.pixel_std + self.pixel_mean).permute(0, 3, 1, 2)
        images = images.expand(-1, 3, -1, -1)  # grey is as much of each colour
        sides = (self.side, self.side)
        large = torch.nn.functional.interpolate(images, sides, mode="bilinear", align_corners=False)
        mean, std = (torch.tensor(values).reshape(3, 1, 1) for values in (MEAN, STD))
        return (large - mean) / std

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Numbers: nobody has named what these networks see."""
        check_is_fitted(self, "center_")
        names = [f"{self.network} {k}" for k in range(len(self.center_))]
        return np.array(names, dtype=object)

    @property
    def stored_bytes(self) -> int:
        """The network's weights, which a model file does not hold, and the scale."""
        path = weights_file(self.network)
        known = sum(part.nbytes for part in self.get_state().values())
        return known + (0 if path is None else path.stat().st_size)
