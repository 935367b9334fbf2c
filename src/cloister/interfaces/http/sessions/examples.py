"""Examples of sessions and messages, from the same household as the others."""

from collections.abc import Mapping

from cloister.interfaces.http.openapi.examples import (
    ANSWERED,
    BEGAN,
    CURSOR,
    EPISODE,
    MESSAGE,
    NEW_MESSAGE,
    NEW_REPLY,
    PROJECT,
    RECEIPT,
    REPLY,
    SAID,
    SESSION,
    USER,
    Example,
    page_example,
)

_NEW_SESSION = {
    "external_id": SESSION,
    "project_id": PROJECT,
    "user_id": USER,
    "title": "Lisbon in May",
    "tags": ["holiday"],
    "metadata": {"channel": "web"},
}
_SESSION = {
    **_NEW_SESSION,
    "message_count": 0,
    "current_leaf_id": None,
    "is_forked": False,
    "memory_job_pending": False,
    "last_extraction_error": None,
    "created_at": BEGAN,
    "updated_at": BEGAN,
    "memory_count": 0,
    "pinned": False,
    "archived": False,
    "system_prompt": None,
    "model": None,
    "warnings": [],
}
_MESSAGE = {
    "id": MESSAGE,
    "session_id": SESSION,
    "seq": 1,
    "parent_id": None,
    "is_current": True,
    **NEW_MESSAGE,
    "author": None,
    "status": "completed",
    "is_memory_checked": False,
    "tags": [f"session:{SESSION}", f"user:{USER}", f"project:{PROJECT}", "holiday"],
    "context": {"session_id": SESSION, "trigger_id": None},
    "categories": [],
    "metadata": {},
    "created_at": SAID,
}
_REPLY = {
    **_MESSAGE,
    "id": REPLY,
    "seq": 2,
    "parent_id": MESSAGE,
    **NEW_REPLY,
    "context": {"session_id": SESSION, "trigger_id": MESSAGE},
    "created_at": ANSWERED,
}

SESSION_EXAMPLES: Mapping[str, Example] = {
    "list_project_sessions": page_example(_SESSION, next_cursor=CURSOR),
    "create_session": Example(request=_NEW_SESSION, answer=_SESSION),
    "list_sessions": page_example(_SESSION),
    "get_session": Example(answer=_SESSION),
    "change_session": Example(
        request={"title": "Lisbon, later", "project_id": None, "pinned": True},
        answer={**_SESSION, "title": "Lisbon, later", "project_id": None, "pinned": True},
    ),
    "title_session": Example(request={"replaces": "We move to Lisbon in"}, answer=_SESSION),
    "choose_branch": Example(
        request={"message_id": REPLY},
        answer={**_SESSION, "message_count": 3, "current_leaf_id": REPLY, "is_forked": True},
    ),
    "record_message": Example(
        request={**NEW_MESSAGE, "categories": ["travel"]}, answer={**_MESSAGE, "categories": ["travel"]}
    ),
    "record_messages": Example(request={"messages": [NEW_MESSAGE, NEW_REPLY]}, answer={"data": [_MESSAGE, _REPLY]}),
    "list_messages": Example(
        answer={
            "data": [_MESSAGE, _REPLY],
            "next_cursor": None,
            "previous_cursor": None,
            "receipts": [
                {"id": RECEIPT, "message_id": REPLY, "given": 2, "strong": 1, "weak": 1, "placeholders": True}
            ],
        }
    ),
    "record_episode": Example(
        request={"session_id": SESSION, "user_message": NEW_MESSAGE["content"], "ai_response": NEW_REPLY["content"]},
        answer={"id": EPISODE, "session_id": SESSION, "message_ids": [MESSAGE, REPLY], "created_at": SAID},
    ),
}
