"""A request for a response as a request for a chat completion: items become messages, tools and options get their names there."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from cloister.domain.errors import InvalidRequest
from cloister.domain.prompts.images import checked_image
from cloister.interfaces.http.fronts.refused_content import HOSTED_TOOL, refuse_stored_files
from cloister.interfaces.http.openai.response_bodies import ResponseRequest
from cloister.services.conversations.item_format import CALL_TYPES, Item, item_type, marker_of

# Items of a client's history that a chat model cannot be sent. They are stored, and left out of the prompt.
_LEFT_OUT = frozenset(
    {
        "reasoning",
        "compaction",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "computer_call",
        "computer_call_output",
        "mcp_call",
        "mcp_list_tools",
    }
)
# The fields that are texts of the items that a chat model is sent as tool calls and their outputs.
_CALLS = {
    "function_call": ("call_id", "name", "arguments"),
    "custom_tool_call": ("call_id", "name", "input"),
    "function_call_output": ("call_id",),
    "custom_tool_call_output": ("call_id",),
}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_INSTRUCTING = ("system", "developer")


def check_input(items: Sequence[Item]) -> None:
    """Refuse items that mean something a model cannot be asked here."""
    for index, item in enumerate(items):
        kind = item_type(item)
        if kind != "message" and kind not in _CALLS and kind not in _LEFT_OUT:
            raise InvalidRequest(
                f"input[{index}].type",
                f"{kind} is not supported here: send messages, {', '.join(_CALLS)} or reasoning.",
            )
        for field in _CALLS.get(kind, ()):
            if not isinstance(item.get(field), str):
                raise InvalidRequest(f"input[{index}].{field}", "must be text.")
        if kind == "message":
            _check_content(item, f"input[{index}].content")
        elif kind in _OUTPUTS:
            refuse_stored_files(item.get("output"), f"input[{index}].output")


def _check_content(message: Item, field: str) -> None:
    """Refuse parts that cannot be sent to a model, and those that name what its provider stores. Annotations of a reply that comes
    back stay here."""
    content = message.get("content")
    for index, part in enumerate(cast(list[Mapping[str, Any]], content) if isinstance(content, list) else ()):
        refuse_stored_files(part, f"{field}[{index}]", except_in=("annotations",))
        if message["role"] == "user" and part.get("type") == "input_image" and part.get("image_url") is not None:
            checked_image(part["image_url"], f"{field}[{index}]")
        if message["role"] == "user" and _part(part) is None:
            raise InvalidRequest(f"{field}[{index}]", _why_not(part))


def chat_messages(instructions: str | None, items: Iterable[Item]) -> list[dict[str, Any]]:
    """The messages of a chat completion. Consecutive tool calls are one message of the assistant; an output whose call is not there
    is left out, because models reject it. Instructions in the items come first, with those of the request."""
    instructing = [instructions] if instructions else []
    messages: list[dict[str, Any]] = []
    calls: set[str] = set()
    for item in items:
        kind = item_type(item)
        call = item.get("call_id")
        if kind in CALL_TYPES.values() and isinstance(call, str):
            calls.add(call)
            _add_call(messages, item)
        elif kind in _CALLS and isinstance(call, str):
            if call in calls:
                messages.append({"role": "tool", "tool_call_id": call, "content": _output(item.get("output"))})
        elif kind == "message" and item["role"] in _INSTRUCTING:
            instructing.append(_texts(item.get("content")))
        elif kind == "message" and item["role"] == "assistant":
            messages.append({"role": "assistant", "content": _texts(item.get("content"))})
        elif kind == "message" and item["role"] == "user":
            messages.append({"role": "user", "content": _parts(item.get("content"))})
    # Many clients send the same instructions with every request: once is enough, where they came last.
    distinct = [*dict.fromkeys(text for text in reversed(instructing) if text)][::-1]
    head = [{"role": "system", "content": "\n\n".join(distinct)}] if distinct else []
    return [*head, *messages]


def chat_options(body: ResponseRequest) -> dict[str, Any]:
    """The options of a chat completion. Raises for tools and formats that a model cannot be asked for here."""
    options = body.passed_to_model
    if body.tools:
        options["tools"] = [_tool(tool, f"tools[{index}]") for index, tool in enumerate(body.tools)]
    if body.tool_choice is not None and body.tools:
        options["tool_choice"] = _tool_choice(body.tool_choice)
    if body.max_output_tokens is not None:
        options["max_completion_tokens"] = body.max_output_tokens
    text, reasoning = body.text or {}, body.reasoning or {}
    if (form := _format(text.get("format"))) is not None:
        options["response_format"] = form
    if text.get("verbosity") is not None:
        options["verbosity"] = text["verbosity"]
    if reasoning.get("effort") is not None:
        options["reasoning_effort"] = reasoning["effort"]
    return options


def _add_call(messages: list[dict[str, Any]], item: Item) -> None:
    name = str(item.get("name") or "")
    if item_type(item) == CALL_TYPES["custom"]:
        called = {"type": "custom", "custom": {"name": name, "input": str(item.get("input") or "")}}
    else:
        called = {"type": "function", "function": {"name": name, "arguments": str(item.get("arguments") or "")}}
    call = {"id": item["call_id"], **called}
    if messages and messages[-1]["role"] == "assistant":
        messages[-1].setdefault("tool_calls", []).append(call)
        messages[-1]["content"] = messages[-1]["content"] or None
    else:
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = map(_mapping, cast(list[object], content) if isinstance(content, list) else [])
    return "\n".join(text for part in parts if isinstance(text := part.get("text") or part.get("refusal"), str))


def _output(output: Any) -> str:
    """What a tool answered, as text: chat models take nothing else from tools, so what else there is is named."""
    if not isinstance(output, list):
        return _texts(output)
    parts = [part for part in map(_mapping, cast(list[object], output)) if isinstance(part.get("type"), str)]
    return "\n".join(_texts([part]) if _is_text(part) else marker_of(part) for part in parts)


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str) or isinstance(part.get("refusal"), str)


def _parts(content: Any) -> Any:
    """The content of a message of the user. An item of a conversation is stored as it came: what cannot be sent of it is named."""
    if not isinstance(content, list):
        return content or ""
    parts = [_part(part) or _text_part(marker_of(part)) for part in cast(list[Mapping[str, Any]], content)]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _is_image(url: object) -> bool:
    """Whether it is an image with its contents: the model's server would fetch an address."""
    with suppress(InvalidRequest):
        return bool(checked_image(url, "image_url"))
    return False


def _part(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """A part in the form of a chat completion, which takes files and images by their contents; None if it has no such form."""
    kind = part.get("type")
    if kind in ("input_text", "text", "output_text"):
        return _text_part(part.get("text") or "")
    if any(part.get(name) is not None for name in ("file_id", "file_url")):
        return None
    if kind == "input_image" and _is_image(part.get("image_url")):
        image = {"url": part["image_url"], **({"detail": part["detail"]} if part.get("detail") else {})}
        return {"type": "image_url", "image_url": image}
    if kind == "input_audio" and isinstance(part.get("input_audio"), Mapping):
        return {"type": "input_audio", "input_audio": _given(part["input_audio"], "data", "format")}
    if kind == "input_file" and isinstance(part.get("file_data"), str):
        return {"type": "file", "file": _given(part, "filename", "file_data")}
    return None


def _why_not(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    if part.get("file_url") is not None:
        return "has a file_url, which is not supported here: send the contents of the file in file_data."
    fields = {"input_image": "image_url", "input_audio": "input_audio", "input_file": "file_data"}
    if kind in fields:
        return f"must have {fields[kind]}."
    return f"is of the type {kind!r}, which is not supported here."


def _given(part: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: part[name] for name in names if part.get(name) is not None}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _mapping(given: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], given) if isinstance(given, Mapping) else {}


def _tool(tool: Any, field: str) -> dict[str, Any]:
    given = _mapping(tool)
    if given.get("type") == "custom":
        custom = _given(given, "name", "description", "format")
        form = _mapping(custom.get("format"))
        if form.get("type") == "grammar":
            custom["format"] = {"type": "grammar", "grammar": _given(form, "syntax", "definition")}
        return {"type": "custom", "custom": custom}
    if given.get("type") != "function":
        raise InvalidRequest(f"{field}.type", f"must be function or custom: {HOSTED_TOOL}")
    return {"type": "function", "function": _given(given, "name", "description", "parameters", "strict")}


def _tool_choice(choice: Any) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    given = _mapping(choice)
    kind = given.get("type")
    if kind in ("function", "custom") and isinstance(given.get("name"), str):
        return {"type": kind, kind: {"name": given["name"]}}
    raise InvalidRequest("tool_choice", "must be auto, none, required, or a function or custom tool by its name.")


def _format(form: Any) -> dict[str, Any] | None:
    given = _mapping(form)
    kind = given.get("type", "text")
    if kind == "text":
        return None
    if kind == "json_object":
        return {"type": "json_object"}
    if kind == "json_schema":
        return {"type": "json_schema", "json_schema": {name: given[name] for name in given if name != "type"}}
    raise InvalidRequest("text.format", "must be of the type text, json_object or json_schema.")
