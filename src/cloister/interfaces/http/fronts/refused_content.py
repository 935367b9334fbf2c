"""What the interfaces of model providers refuse in messages, each in the shape of its own errors: what names something in the
account of the server's own key, which all tenants share."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from cloister.domain.errors import InvalidRequest

_ADDRESS = "names an address, which the model's server would fetch: send the contents instead."
_STORED_FILE = "names a stored file of the model's provider: send its contents instead."
HOSTED_TOOL = "hosted tools are not run here. Run the tool in your application."


def refuse_stored_files(
    given: object, field: str, *, except_in: Collection[str] = (), has_tool_inputs: bool = False
) -> None:
    """Refuse a file in the account of the model provider, however deep it is named: all tenants share that account, so its ids are
    within nobody's reach, also where the caller sends a model key; and, in Anthropic's form, a source at an address. Fields in
    `except_in` do not reach the model; with `has_tool_inputs` the `input` of a tool call is the application's own."""
    waiting: list[object] = [given]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += cast(list[object], value)
        elif isinstance(value, Mapping):
            fields = cast(Mapping[str, Any], value)
            if fields.get("file_id") is not None:
                raise InvalidRequest(field, _STORED_FILE)
            if fields.get("type") == "url" and isinstance(fields.get("url"), str):
                raise InvalidRequest(field, _ADDRESS)
            is_call = has_tool_inputs and str(fields.get("type")).endswith("tool_use")
            waiting += (
                inner for name, inner in fields.items() if name not in except_in and not (is_call and name == "input")
            )
