"""The isolation machine with archives (ORG-11): at any moment one has exactly what the oracle says, and importing it changes
nothing; a new tenant in an empty database has the same archive after importing it."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from hypothesis.stateful import rule

from cloister.bootstrap import Services
from cloister.domain.archive.imported import ImportCounts
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.identifiers import format_message_id
from cloister.domain.scope import Reach
from support.isolation.erasure_machine import ErasureMachine
from support.isolation.isolation_machine import house_numbers, picks, tenant_numbers, users
from support.isolation.oracle import Conversation, Tenant

USERS = ("ann", "bob")


class ArchiveMachine(ErasureMachine):
    """ORG-11, with all that the machines before it show."""

    def fresh(self) -> AbstractContextManager[Services]:
        """The services of an empty database."""
        raise NotImplementedError

    @rule(house=house_numbers, tenant=tenant_numbers)
    def export_and_import_everything(self, house: int, tenant: int) -> None:
        services, home = self._step(house, tenant)
        lines = self._archive(services, home, ArchiveTarget(), lambda _: True)
        self._import_again(services, home, lines)
        with self.fresh() as other:
            made, _ = other.projects.create_tenant("Fresh")
            other.import_lines.run(Reach(tenant=made), lines)
            assert list(other.export.lines(Reach(tenant=made), ArchiveTarget())) == lines

    @rule(house=house_numbers, tenant=tenant_numbers, user=users, pick=picks)
    def export_and_import_merged_entities(self, house: int, tenant: int, user: str | None, pick: int) -> None:
        """MEM-17: two entities of one part are one while the archive is made and imported, and are separated again."""
        services, home = self._step(house, tenant)
        project = list(home.projects)[pick % len(home.projects)]
        known = self._entities(services, home, project, user)
        if len(known) < 2:
            return
        into, merged = known[pick % len(known)].id, known[(pick + 1) % len(known)].id
        services.entity_changes.merge(home.reach, merged, into)
        lines = list(services.export.lines(home.reach, ArchiveTarget()))
        self._import_again(services, home, lines)
        services.entity_undo.restore(home.reach, merged)

    def _import_again(self, services: Services, home: Tenant, lines: list[bytes]) -> None:
        """Importing what is there changes nothing: the next archive is the same."""
        assert services.import_lines.run(home.reach, lines).added == ImportCounts()
        assert list(services.export.lines(home.reach, ArchiveTarget())) == lines

    @rule(house=house_numbers, tenant=tenant_numbers, pick=picks)
    def export_a_part(self, house: int, tenant: int, pick: int) -> None:
        services, home = self._step(house, tenant)
        project, user = list(home.projects)[pick % len(home.projects)], USERS[pick % 2]
        self._archive(services, home, ArchiveTarget(project=project), lambda one: one.project == project)
        self._archive(services, home, ArchiveTarget(user=user), lambda one: one.user == user)

    def _archive(
        self, services: Services, home: Tenant, target: ArchiveTarget, belongs: Callable[[Conversation], bool]
    ) -> list[bytes]:
        """The archive, whose sessions and messages are those of the conversations that belong to it."""
        lines = list(services.export.lines(home.reach, target))
        records: list[dict[str, Any]] = [json.loads(line) for line in lines]
        wanted = [one for one in home.conversations.values() if belongs(one)]
        assert {each["external_id"] for each in records if each["kind"] == "session"} == {one.name for one in wanted}
        current = {each["id"] for each in records if each["kind"] == "message" and each["is_current"]}
        assert current == {format_message_id(said.id) for one in wanted for said in one.said}
        assert {each["id"] for each in records if each["kind"] == "message"} == {
            format_message_id(said.id) for one in wanted for said in one.everything
        }
        assert sum(each["kind"] == "memory" for each in records) == sum(len(one.memories) for one in wanted)
        return lines
