"""Examples of the Anthropic-compatible routes, from the same household as the others."""

from collections.abc import Mapping

from cloister.interfaces.http.openapi.examples import NEW_MESSAGE, NEW_REPLY, Example

_MODEL = {"id": "llama-3", "type": "model", "display_name": "llama-3", "created_at": "1970-01-01T00:00:00Z"}
ANTHROPIC_EXAMPLES: Mapping[str, Example] = {
    "create_message": Example(
        request={
            "model": "llama-3",
            "max_tokens": 1_024,
            "system": "Be brief.",
            "messages": [NEW_MESSAGE],
        },
        answer={
            "id": "msg_2c19f0a87b3e54d6",
            "type": "message",
            "role": "assistant",
            "model": "llama-3",
            "content": [{"type": "text", "text": NEW_REPLY["content"]}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 148, "output_tokens": 12},
        },
    ),
    "count_tokens": Example(
        request={"model": "llama-3", "system": "Be brief.", "messages": [NEW_MESSAGE]}, answer={"input_tokens": 31}
    ),
    "list_anthropic_models": Example(
        answer={"data": [_MODEL], "has_more": False, "first_id": "llama-3", "last_id": "llama-3"}
    ),
    "get_anthropic_model": Example(answer=_MODEL),
    "find_memory_tool_session": Example(
        request={"user_id": "ann"},
        answer={
            "session_id": "memory-tool-0f6a2b7c9d1e4835a6b0c2d4e6f81937",
            "project_id": "proj_2f8a61c09e7b4d35",
            "user_id": "ann",
        },
    ),
    "view_files": Example(
        request={"path": "/memories/hotel.txt"},
        answer={
            "text": "Here's the content of /memories/hotel.txt with line numbers:\n     1\tThe hotel is in Alfama.",
            "is_error": False,
        },
    ),
    "change_files": Example(
        request={"command": "create", "path": "/memories/hotel.txt", "file_text": "The hotel is in Alfama."},
        answer={"text": "File created successfully at: /memories/hotel.txt", "is_error": False},
    ),
}
