"""What each parameter of `KCNetClassifier` may be."""

from __future__ import annotations

from kcnet_core.network.doa_settings import GRADIENT_MASKS, GRADIENT_ROWS, RULES, STOP_RULES
from kcnet_core.network.parameters import Choice, Number, Other
from kcnet_core.network.scores import KEYWORDS
from kcnet_core.network.wiring import PLANS
from kcnet_core.network.wiring.fields import is_image_shape
from kcnet_core.network.wiring.hemibrain import is_connectome


def _is_n_jobs(value: object) -> bool:
    return value is None or (Number(int).allows(value) and value != 0)


PARAMETERS = {
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
