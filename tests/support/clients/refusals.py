"""What a way in refuses, by its code and its words, as the error that the library raises."""

from cloister import (
    CloisterError,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    ModelUnavailable,
    NotFound,
    TooLarge,
    Unauthenticated,
)

_KINDS: dict[str, type[CloisterError]] = {
    kind.code: kind
    for kind in (
        NotFound,
        Conflict,
        InvalidRequest,
        IdempotencyMismatch,
        TooLarge,
        Forbidden,
        Unauthenticated,
        ModelUnavailable,
    )
}


def refusal(code: str, words: str) -> CloisterError:
    kind = _KINDS[code]
    return kind.__new__(kind, words)
