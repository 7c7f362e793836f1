"""The same work on the machines of a Dask cluster: one large fit, or many fits side by side.

`dask` and `distributed` are optional; they are imported only when a cluster is asked for. All that
takes a `client` takes a `distributed.Client`, the address of a scheduler, or "local".
"""

from kcnet_core import lazily

_HOME = {
    "ClusterError": "connection",
    "compare_steps": "rows",
    "connected": "connection",
    "fit": "fits",
    "reproduce_steps": "rows",
    "search_steps": "rows",
    "spreading": "spread",
}

__all__ = sorted(_HOME)

__getattr__, __dir__ = lazily(__name__, _HOME)
