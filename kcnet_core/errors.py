"""Errors whose message is a sentence for the person who caused them.

Every page and command shows `str(error)` of a `KCNetError` as it is; anything else is our bug.
"""


class KCNetError(ValueError):
    """Something the user can mend: the message names what was wrong and what to do."""


class LimitError(KCNetError):
    """A stated limit (see `kcnet_core.limits`) was exceeded."""


class DataError(KCNetError):
    """A dataset, table, image or archive cannot be used as it is."""


class ModelFileError(KCNetError):
    """A model file is damaged, foreign or of another version."""


class OutOfMemory(KCNetError):
    """The computation does not fit; the message says what to lower."""
