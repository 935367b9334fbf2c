"""Statements for tests of extractors."""

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId

MAY_2026 = 1_778_230_800_000_000


def statement(number: int, content: str, role: str = "user", author: str | None = None) -> Statement:
    return Statement(id=MessageId(1_000 + number), role=role, content=content, author=author, created_at=MAY_2026)


def ids(*numbers: int) -> tuple[MessageId, ...]:
    return tuple(MessageId(1_000 + number) for number in numbers)
