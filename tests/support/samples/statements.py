"""Statements for tests of extractors."""

from cloister.domain.extraction import KnownMemory, Statement
from cloister.domain.identifiers import MemoryId, MessageId

MAY_2026 = 1_778_230_800_000_000


def statement(number: int, content: str, role: str = "user", author: str | None = None) -> Statement:
    return Statement(id=MessageId(1_000 + number), role=role, content=content, author=author, created_at=MAY_2026)


def ids(*numbers: int) -> tuple[MessageId, ...]:
    return tuple(MessageId(1_000 + number) for number in numbers)


def known_memory(number: int, content: str, *, subject: str | None = None, valid_from: int = 0) -> KnownMemory:
    return KnownMemory(id=MemoryId(number), content=content, subject=subject, valid_from=valid_from)
