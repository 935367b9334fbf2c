"""The methods of `Cloister` for sessions."""

from collections.abc import Mapping, Sequence

from cloister.domain.conversation import SessionChoices
from cloister.domain.sessions.fields import SessionChange, SessionFields, SessionFilter
from cloister.domain.text import checked_metadata
from cloister.interfaces.python.arguments import (
    NOT_GIVEN,
    checked_flag,
    checked_user,
    page_request,
    project_choice,
    project_of,
    resets_of,
    tags_of,
)
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.backends.requests import expected_session
from cloister.interfaces.python.pages import Page
from cloister.interfaces.python.preview_shapes import MovePreview
from cloister.interfaces.python.shapes import Forgotten, Session


class SessionMethods:
    """The part of `Cloister` for sessions: create, list, change, move and delete them."""

    _backend: Backend

    def create_session(
        self,
        external_id: str | None = None,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        title: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        pinned: bool = False,
        archived: bool = False,
        system_prompt: str | None = None,
        model: str | None = None,
    ) -> Session:
        """Create a session in a project.

        Without `external_id` it gets a random one. Without `project_id` it goes to the key's project, else to the tenant's default
        project; with None it is in no project. If the session exists with the same fields, it is returned; with other fields it is
        a `Conflict`. `pinned`, `archived`, `system_prompt` and `model` are as in `update_session`.
        """
        checked_metadata(metadata or {})
        fields = SessionFields(
            external_id=external_id,
            user_id=user_id,
            title=title,
            tags=tags_of(tags),
            metadata=metadata,
            choices=SessionChoices(
                checked_flag(pinned, "pinned"), checked_flag(archived, "archived"), system_prompt, model
            ),
        )
        return self._backend.create_session(fields, project_choice(project_id))

    def session(self, session_id: str) -> Session:
        """Return a session by its external id."""
        return self._backend.session(session_id)

    def sessions(
        self,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        external_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Session]:
        """List sessions, newest activity first.

        Without `project_id` of all projects, with None those in no project; with `user_id` those of one user; with `pinned` or
        `archived` those that are, or are not; with `external_id` the one with this id, or none.
        """
        project, user = project_choice(project_id), checked_user(user_id)
        wanted = SessionFilter(user_id=user, pinned=pinned, archived=archived, external_id=external_id)
        return self._backend.sessions(project, wanted, page_request(limit, cursor))

    def update_session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        project_id: str | None = NOT_GIVEN,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, object] | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        system_prompt: str | None = NOT_GIVEN,
        model: str | None = NOT_GIVEN,
    ) -> Session:
        """Change the fields that are given; the others stay. With `project_id` the session is moved too, as by `move_session`.

        A `pinned` or `archived` session is recalled like all others. `system_prompt` and `model` replace those of the project, and
        None makes them the project's again; the model's server has to list the model.
        """
        if metadata is not None:
            checked_metadata(metadata)
        change = SessionChange(
            title=title,
            tags=None if tags is None else tags_of(tags),
            metadata=metadata,
            pinned=None if pinned is None else checked_flag(pinned, "pinned"),
            archived=None if archived is None else checked_flag(archived, "archived"),
            system_prompt=None if system_prompt is NOT_GIVEN else system_prompt,
            model=None if model is NOT_GIVEN else model,
            resets=resets_of(system_prompt=system_prompt, model=model),
        )
        if project_id is NOT_GIVEN:
            return self._backend.update_session(session_id, change)
        return self._backend.move_session(session_id, project_of(project_id), change)

    def move_session(self, session_id: str, project_id: str | None) -> Session:
        """Move a session with all its messages, memories and observations into a project, or out of all projects with None.

        From the next request on it is recalled in the new project and no longer in the old one. Entities stay in the project they
        were extracted in. What its replies quote of the old project is no longer shown.
        """
        return self._backend.move_session(session_id, project_of(project_id), SessionChange())

    def preview_move(self, session_id: str, project_id: str | None) -> MovePreview:
        """Count what `move_session` would move, and how many replies were given recalled text of the project that the session would
        leave. Nothing is changed."""
        return self._backend.preview_move(session_id, project_of(project_id))

    def delete_session(self, session_id: str, *, dry_run: bool = False) -> Forgotten:
        """Delete a session, its messages, and everything that derives from them.

        Returns how many of each, and the certificate: what went, by kind and id, and the checks made afterwards. With `dry_run`
        nothing is changed: `would_remove` is what would go.
        """
        return self._backend.delete_session(session_id, dry_run)

    def clear_session(
        self,
        session_id: str,
        *,
        dry_run: bool = False,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> Forgotten:
        """Delete the messages of a session and everything that derives from them; the session stays. Returns the same as
        `delete_session`.

        With `project_id` (None is no project) or `user_id`, the session must be in this project and of this user,
        or nothing is deleted and `Conflict` is raised.
        """
        expected = expected_session(project_choice(project_id), checked_user(user_id))
        return self._backend.clear_session(session_id, dry_run, expected)
