"""The answer of the memory tool, which the library knows without its commands."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FileAnswer:
    """The answer of a command, for the assistant. `is_error`: it says why the command was not carried out."""

    text: str
    is_error: bool
