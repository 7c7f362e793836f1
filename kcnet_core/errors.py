"""Errors whose message is a sentence for the person who caused them.

Every page and command shows `str(error)` of a `KCNetError` as it is; anything else is our bug.
"""

import sys
from collections import Counter

refusals: Counter[tuple[str, str]] = Counter()  # by kind and module that refused, since the start


class KCNetError(ValueError):
    """Something the user can mend: the message names what was wrong and what to do."""

    def __init__(self, *args: object):
        super().__init__(*args)
        refusals[type(self).__name__, sys._getframe(1).f_globals.get("__name__", "")] += 1


class LimitError(KCNetError):
    """A stated limit (see `kcnet_core.limits`) was exceeded."""


class DataError(KCNetError):
    """A dataset, table, image or archive cannot be used as it is."""


class ModelFileError(KCNetError):
    """A model file is damaged, foreign or of another version."""


class OutOfMemory(KCNetError):
    """The computation does not fit; the message says what to lower."""
