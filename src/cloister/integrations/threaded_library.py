"""The check of the `Cloister` that an adapter is made with: adapters call it on threads of their own."""

from cloister.interfaces.python.library import Cloister


def threaded_library(cloister: Cloister | None) -> Cloister:
    """Return the library, if it is a `Cloister`. Anything else, such as an `AsyncCloister`, would fail later and obscurely."""
    if not isinstance(cloister, Cloister):
        raise TypeError(
            f"cloister must be a Cloister, not {type(cloister).__name__}: open one with Cloister(…). Asynchronous calls "
            "run it on a thread."
        )
    return cloister
