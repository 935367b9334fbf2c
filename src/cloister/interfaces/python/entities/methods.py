"""The methods of `Cloister` for entities."""

from collections.abc import Mapping, Sequence

from cloister.domain.identifiers import parse_entity_id, parse_message_id, parse_project_id
from cloister.interfaces.python.arguments import checked_user, given_filter, page_after, page_size
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.derived_shapes import Entity, EntityDetail, EntityMention
from cloister.interfaces.python.pages import Page, PageRequest
from cloister.services.memories.entity_changes import Correction, EntitySplit, checked_correction, checked_split


class EntityMethods:
    """The part of `Cloister` that is about entities: named people and things of a project."""

    _backend: Backend

    def entities(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[Entity]:
        """List the entities of a project, oldest first, from a `cursor` or from behind the entity `after`.

        A project with private members is divided by user: `user_id` says whose part to list. With a `filter`, as in `search`, only
        those that it lets pass.
        """
        project, user = parse_project_id(project_id), checked_user(user_id)
        return self._backend.entities(project, user, page_after(limit, cursor, after, parse_entity_id, filter))

    def entity(self, entity_id: str) -> EntityDetail:
        """Return an entity with its aliases, its relations to other entities, and the latest messages that mention it."""
        return self._backend.entity(parse_entity_id(entity_id))

    def entity_mentions(
        self,
        entity_id: str,
        *,
        limit: int = 50,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[EntityMention]:
        """List the messages that mention an entity, the last extracted first.

        Only messages that are in the entity's project now, and in a project with private members in the same user's part. With a
        `filter`, as in `search`, only those that it lets pass.
        """
        page: PageRequest[int] = PageRequest(limit=page_size(limit), cursor=cursor, filter=given_filter(filter))
        return self._backend.entity_mentions(parse_entity_id(entity_id), page)

    def update_entity(
        self,
        entity_id: str,
        *,
        name: str | None = None,
        type: str | None = None,
        notes: str | None = None,
        aliases: Sequence[str] | None = None,
    ) -> EntityDetail:
        """Correct the fields of an entity that are given; no extraction changes them back.

        `aliases` are all other names: mentions of a new one count for this entity from now on. Leaving out a name that messages use
        is a `Conflict`: split it off. `notes` replace those that were extracted until now.
        """
        correction = checked_correction(Correction(name=name, type=type, notes=notes, aliases=aliases))
        return self._backend.update_entity(parse_entity_id(entity_id), correction)

    def delete_entity(self, entity_id: str, *, dry_run: bool = False) -> Removed:
        """Delete an entity. The messages that mention it stay; `restore_entity` brings it back within a day.

        A message that mentions it later makes a new entity. Returns its certificate or, with `dry_run`, what would go.
        """
        return self._backend.delete_entity(parse_entity_id(entity_id), dry_run)

    def merge_entity(self, entity_id: str, into: str) -> EntityDetail:
        """Make an entity part of another one of the same project, whose id and name stay. Returns that one.

        `restore_entity` undoes it within a day.
        """
        return self._backend.merge_entity(parse_entity_id(entity_id), parse_entity_id(into))

    def split_entity(
        self,
        entity_id: str,
        *,
        aliases: Sequence[str] | None = None,
        message_ids: Sequence[str] | None = None,
        name: str | None = None,
    ) -> EntityDetail:
        """Split off `aliases`, or the mentions in `message_ids` under a new `name`, as an entity of their own. Returns that one.

        Messages that were extracted together stay together. `restore_entity` undoes it within a day.
        """
        messages = None if message_ids is None else tuple(map(parse_message_id, message_ids))
        split = checked_split(EntitySplit(aliases=aliases, message_ids=messages, name=name))
        return self._backend.split_entity(parse_entity_id(entity_id), split)

    def restore_entity(self, entity_id: str) -> EntityDetail:
        """Undo the last merge, split or deletion of an entity, or with it, of the last day.

        What was forgotten since then stays forgotten. A `Conflict` if there is nothing to undo.
        """
        return self._backend.restore_entity(parse_entity_id(entity_id))

    def retag_entity(self, entity_id: str, project_id: str, *, user_id: str | None = None) -> Entity:
        """Move an entity to another project; nothing else ever changes an entity's project.

        If that project has an entity of this name, the two are merged under the id of that one. In a project with private members
        the entity goes to the part of `user_id`; over HTTP that needs an admin key unless it is in that user's part already.
        """
        return self._backend.retag_entity(
            parse_entity_id(entity_id), parse_project_id(project_id), checked_user(user_id)
        )
