"""A click is carried out whole, also when the next click comes before it is done.

Streamlit ends a running callback at its next look at the session's state as soon as another rerun
is asked for, and then takes it for finished: Start, followed at once by a change of the pace, would
start nothing.
"""

from __future__ import annotations

from functools import wraps

from streamlit.runtime.scriptrunner import RerunException


def whole(callback):
    """`callback`, done again from the beginning when it was interrupted; it must bear that."""

    @wraps(callback)
    def carried_out(*args, **kwargs):
        try:
            return callback(*args, **kwargs)
        except RerunException:  # the rerun that interrupted still follows
            callback(*args, **kwargs)
            raise

    return carried_out
