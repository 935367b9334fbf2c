"""A session as nobody stored it, for tests of the rules alone."""

from cloister.domain.conversation import Session
from cloister.domain.identifiers import PoolId, ProjectId, SessionId, TenantId


def bare_session(*, tenant: TenantId, project: ProjectId | None = None, user_id: str | None = None) -> Session:
    return Session(
        id=SessionId(1),
        tenant=tenant,
        external_id="roses",
        project=project,
        pool=PoolId(1),
        user_id=user_id,
        title=None,
        tags=(),
        metadata={},
        message_count=0,
        created_at=0,
        updated_at=0,
    )
