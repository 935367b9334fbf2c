"""The arguments of an explanation, which has two forms."""

from cloister.domain.errors import InvalidRequest


def checked_form(session_id: str | None, query: str | None, receipt_id: str | None) -> tuple[str, str] | str:
    """The session and the query, or the id of the receipt. Both forms at once, and neither, are refused."""
    if receipt_id is not None:
        if session_id is not None or query is not None:
            raise InvalidRequest("receipt_id", "already says what was asked: leave out session_id and query.")
        return receipt_id
    if session_id is None:
        raise InvalidRequest("session_id", "is needed, with query; or else receipt_id.")
    if query is None:
        raise InvalidRequest("query", "is needed, with session_id; or else receipt_id.")
    return session_id, query
