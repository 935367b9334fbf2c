"""The shapes of removals: what went or would go, by kind and id, and the certificate of what went (PRF-4, PRF-5)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from cloister.domain.erasure import Removal
from cloister.services.certificates.certify import Certificate as DomainCertificate


@dataclass(frozen=True, kw_only=True, slots=True)
class RemovedRows:
    """Rows by kind and id. Of each kind at most 1,000 are in `removed`; `more` says how many others there are. Both are empty for
    a key that may not read."""

    removed: Mapping[str, tuple[str, ...]]
    more: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class CertificateCheck:
    """A check that was made after the removal, and whether it passed."""

    check: str
    passed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckNotMade:
    """A check that was not made, and why: nothing is claimed about it."""

    check: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate(RemovedRows):
    """What was removed, the checks that were made afterwards with their results, and those that were not made."""

    checks: tuple[CertificateCheck, ...]
    not_made: tuple[CheckNotMade, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Removed:
    """The answer of deleting one message, memory or entity: its certificate, or with a dry run what would be removed."""

    certificate: Certificate | None = None
    would_remove: RemovedRows | None = None


def rows_shape(removal: Removal, *, may_read: bool = True) -> RemovedRows:
    """What was or would be removed; nothing for a caller that may not read."""
    if not may_read:
        return RemovedRows(removed={}, more={})
    return RemovedRows(removed={kind: tuple(ids) for kind, ids in removal.named.items()}, more=dict(removal.more))


def certificate_shape(certificate: DomainCertificate, *, may_read: bool = True) -> Certificate:
    rows = rows_shape(certificate.removal, may_read=may_read)
    return Certificate(
        removed=rows.removed,
        more=rows.more,
        checks=tuple(CertificateCheck(**asdict(check)) for check in certificate.checks),
        not_made=tuple(CheckNotMade(**asdict(check)) for check in certificate.not_made),
    )
