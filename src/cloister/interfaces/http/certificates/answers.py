"""Answers of routes that delete: the certificate of what was removed, or with a dry run what would be. A key that may write and not
read is given the results of the checks alone, and no dry run."""

from cloister.domain.erasure import Removal
from cloister.interfaces.http.dispatch.callers import CallerInfo
from cloister.interfaces.http.resources.write_only import may_read
from cloister.interfaces.python.certificates.shapes import Removed, certificate_shape, rows_shape


def check_dry_run(caller: CallerInfo, dry_run: bool) -> bool:
    """Whether nothing is to be changed; that answers with what is stored, so it needs the permission `read` too."""
    if dry_run:
        caller.key.require("read")
    return dry_run


def removed_answer(caller: CallerInfo, removal: Removal, *, dry_run: bool) -> Removed:
    reads = may_read(caller)
    if dry_run:
        return Removed(would_remove=rows_shape(removal, may_read=reads))
    certificate = caller.services.certification.certify(caller.reach, removal)
    return Removed(certificate=certificate_shape(certificate, may_read=reads))
