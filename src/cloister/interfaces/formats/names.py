"""The names of the formats that an import reads."""

from typing import Literal, get_args

Format = Literal["cloister", "chatgpt", "claude", "mem0", "log"]
FORMATS: tuple[Format, ...] = get_args(Format)
