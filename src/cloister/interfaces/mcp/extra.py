"""The optional dependency of this door. Nothing imports it before an MCP client comes."""

from importlib.util import find_spec

HOW_TO_INSTALL = "MCP needs the package mcp, which is not installed here: pip install 'cloister[mcp]'."


def is_installed() -> bool:
    return find_spec("mcp") is not None and find_spec("mcp_types") is not None
