"""Filters as Hypothesis draws them, over few values, so that they match some rows and not others."""

from typing import Any

from hypothesis import strategies as st

TIMES = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T12:00:00+02:00", "2027-01-01T00:00:00Z")
CATEGORIES = ("travel", "work", 'odd "quoted", text', "größe")
VALUES: tuple[Any, ...] = ("mail", "chat", 1, 1.0, True, None, 2**63 + 1, ["a"], {"b": [1, {"c": None}]}, "größe")
KEYS = ("source", "größe", 'a "key"')
ENTRIES = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=2)
SESSIONS, USERS, AUTHORS = ("roses", "tulips", "nowhere"), ("ada", "bo", "nobody"), ("Ada", "Bo")

CONDITIONS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from(TIMES).map(lambda time: {"created_after": time}),
    st.sampled_from(TIMES).map(lambda time: {"created_before": time}),
    st.sampled_from(SESSIONS).map(lambda name: {"session_id": name}),
    st.sampled_from(USERS).map(lambda name: {"user_id": name}),
    st.sampled_from(("user", "assistant", "tool")).map(lambda role: {"role": role}),
    st.sampled_from(AUTHORS).map(lambda name: {"author": name}),
    st.sampled_from(CATEGORIES).map(lambda name: {"category": name}),
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), min_size=1, max_size=2).map(
        lambda entries: {"metadata": entries}
    ),
    st.sampled_from(("message", "episode", "memory", "entity", "observation")).map(lambda kind: {"kind": kind}),
)


@st.composite
def filters(draw: st.DrawFn, depth: int = 3) -> dict[str, Any]:
    """A filter of at most this depth."""
    if depth == 1 or draw(st.booleans()):
        return draw(CONDITIONS)
    parts = [draw(filters(depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    match draw(st.sampled_from(("and", "or", "not", "all"))):
        case "not":
            return {"not": parts[0]}
        case "all":
            return {key: value for part in parts for key, value in part.items()}
        case word:
            return {word: parts}


FILTERS = filters()
