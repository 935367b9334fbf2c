"""The requests with which `hostile.py` sends bodies that are hostile by their structure, not by their texts: as many small objects,
fields, elements or levels as there is room for."""

from collections.abc import Iterator, Mapping

from hostile_doors import LARGEST_BODY, Asked

LARGEST_FILE = 1 << 26
_MCP = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
_MESSAGE = '{"role":"user","content":"a"'


def bodies(session: str) -> Iterator[Asked]:
    """1 MiB of each structure, as messages and as a call of a tool."""
    for filled in _structures(LARGEST_BODY - 300):
        for opening, closing in (('{"messages":[', "]}"), (f'{{"messages":[{_MESSAGE},"metadata":{{"a":[', "]}}]}")):
            text = f"{opening}{filled}{closing}"
            yield Asked("batch", "POST", f"/v1/sessions/{session}/messages/batch", text.encode())
        call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"contents":['
        for text in (f"[{filled}]", f"{call}{filled}]}}}}}}"):
            yield Asked("mcp", "POST", "/mcp", text.encode(), _MCP)


def files(size: int = LARGEST_FILE) -> Iterator[Asked]:
    """Files to be imported; nothing is stored. Those of which each part costs most are smaller."""
    first = '{"role":"user","content":"a","session_id":"1"}\n'
    shapes: Mapping[str, str] = {
        "values in values": _filled('{"":\n', size),
        "long values in values": _filled('{"":[1,1,1,1,1,1,1,1],"":\n', size),
        "lines that are not JSON": _filled("x\n", size),
        "one value of small objects": f'{{"messages":[{_filled("{},", size)}{{}}]}}',
        "one long text": f'{{"role":"user","content":"{_filled("a", size - 100)}"}}',
        "many sessions": "".join(
            f'{{"role":"user","content":"a","session_id":"{number:x}"}}\n' for number in range(size // 400)
        ),
        "small messages": _filled(first, size // 8),
    }
    for text in shapes.values():
        yield Asked(
            "import",
            "POST",
            "/v1/import/file?project_id=none&format=log&dry_run=true",
            (first + text).encode(),
            {"Content-Type": "application/octet-stream"},
        )


def _structures(size: int) -> Iterator[str]:
    """Elements of a list."""
    yield f"{_filled('{},', size)}{{}}"
    yield f"{_filled('[],', size)}[]"
    yield f"{_filled('1,', size)}1"
    yield f"{_filled('null,', size)}null"
    yield f"{_filled(f'{_MESSAGE}}},', size)}{_MESSAGE}}}"
    fields = ",".join(f'"{number:x}":0' for number in range(size // 13))
    yield f"{{{fields}}}"
    yield "[" * (size // 2) + "]" * (size // 2)
    yield '{"a":' * (size // 6) + "1" + "}" * (size // 6)


def _filled(unit: str, size: int) -> str:
    return unit * (size // len(unit))
