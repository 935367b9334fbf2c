"""A change that another caller makes at the worst moment: between two transactions of one call."""

from collections.abc import Callable
from typing import Any

import pytest


def before(monkeypatch: pytest.MonkeyPatch, kind: type, name: str, change: Callable[[], None]) -> None:
    """Make the change once, when this method of a service is called, before it does anything."""
    changes, called = [change], getattr(kind, name)

    def changed(*given: Any, **named: Any) -> Any:
        if changes:
            changes.pop()()
        return called(*given, **named)

    monkeypatch.setattr(kind, name, changed)
