"""Copy all tenants, or one, from one database to another, compare both at the end, and say what was done."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from typing import Any

import typer

from cloister.bootstrap import DatabaseLocation, Services, build_services
from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import format_tenant_id
from cloister.domain.timestamps import Clock, now
from cloister.domain.usage import Limits
from cloister.interfaces.cli.archives.commands import listed_counts
from cloister.interfaces.cli.terminal import answer, counted, remark, table
from cloister.interfaces.cli.upkeep.progress import StepBar
from cloister.services.copying.copy_tenants import CopiedTenant, CopySource, CopyTarget, TenantCopies, TenantPlan
from cloister.settings import EmbedderSettings, Settings, TracingSettings, read_remote, read_settings

_NOT_COPIED = (
    "Not copied: sign-ins to the console, receipts, idempotency keys, what was deleted and can still be restored, and files of the "
    "directory such as local.key. Vectors of an additional embedder are made again by a worker."
)


def copy_installation(
    source: str, target: str, *, tenant: str | None, with_keys: bool, dry_run: bool, json: bool
) -> None:
    settings = _checked(source, target, tenant)
    started = now()
    with closing(_source(settings[0], lambda: started)) as read:
        if not dry_run or DatabaseLocation(settings[1]).has_database():
            with closing(_target(settings[1], lambda: started)) as stored:
                _run(read, stored, settings, dry_run=dry_run, with_keys=with_keys, json=json)
        else:
            _run(read, None, settings, dry_run=True, with_keys=with_keys, json=json)


def _checked(source: str, target: str, tenant: str | None) -> tuple[Settings, Settings]:
    for name, given in (("FROM", source), ("TO", target)):
        if not given:
            raise InvalidRequest(name, "must not be empty.")
        if given.lower().startswith(("http://", "https://")):
            raise Forbidden(f"{name} must be a directory or a postgresql:// URL: this needs the databases themselves.")
    read_remote(source)
    one, other = read_settings(source, tenant=tenant), read_settings(target, tenant=tenant)
    location = DatabaseLocation(one)
    if location.is_same(DatabaseLocation(other)):
        raise InvalidRequest("TO", "is the same as FROM.")
    if not location.has_database():
        raise InvalidRequest("FROM", f"has no database of a Cloister: {location}.")
    return one, other


def _source(settings: Settings, clock: Clock) -> Services:
    """The database alone is read, so nothing else that the environment names is opened."""
    plain = replace(
        settings,
        index="exact",
        qdrant_url=None,
        qdrant_key=None,
        model_url=None,
        embedder=EmbedderSettings(),
        tracing=TracingSettings(),
    )
    return build_services(plain, clock=clock)


def _target(settings: Settings, clock: Clock) -> Services:
    """Without the limits of the environment: what is there already is not refused. The limits of tenants are copied."""
    return build_services(replace(settings, limits=Limits()), clock=clock)


def _run(
    read: Services,
    stored: Services | None,
    settings: tuple[Settings, Settings],
    *,
    dry_run: bool,
    with_keys: bool,
    json: bool,
) -> None:
    source = CopySource(database=read.database, tenants=read.tenants, export=read.export)
    target = None
    if stored is not None:
        target = CopyTarget(
            database=stored.database,
            tenants=stored.tenants,
            export=stored.export,
            importing=stored.import_lines,
        )
    copies = TenantCopies(source, target)
    plans = copies.plan(settings[0].tenant)
    ends = {"from": str(DatabaseLocation(settings[0])), "to": str(DatabaseLocation(settings[1]))}
    if dry_run:
        planned = [_planned(plan, with_keys=with_keys) for plan in plans]
        answer({**ends, "dry_run": True, "tenants": planned}, json, _plan_table(plans), "Nothing was copied.")
        return
    with StepBar() as bar:
        copied = list(copies.run(plans, with_keys=with_keys, progress=bar.show))
    is_same = not any(each.differences for each in copied)
    data = {**ends, "dry_run": False, "is_same": is_same, "tenants": [_copied(each) for each in copied]}
    answer(data, json, *(sentence for each in copied for sentence in _sentences(each)), _result(copied, ends["to"]))
    if not json:
        remark(_NOT_COPIED)
    if not is_same:
        raise typer.Exit(1)


def _planned(plan: TenantPlan, *, with_keys: bool) -> dict[str, Any]:
    return {
        "tenant_id": format_tenant_id(plan.tenant),
        "name": plan.name,
        "projects": plan.projects,
        "sessions": plan.sessions,
        "messages": plan.messages,
        "messages_there": plan.messages_there,
        "keys": plan.keys if with_keys else 0,
    }


def _plan_table(plans: Sequence[TenantPlan]) -> Any:
    headings = ("tenant", "name", "projects", "sessions", "messages", "of them there")
    rows = [
        (
            format_tenant_id(plan.tenant),
            plan.name,
            f"{plan.projects:,}",
            f"{plan.sessions:,}",
            f"{plan.messages:,}",
            f"{plan.messages_there:,}",
        )
        for plan in plans
    ]
    return table(headings, rows, numbers=headings[2:])


def _copied(copied: CopiedTenant) -> dict[str, Any]:
    keys = copied.keys
    return {
        "tenant_id": format_tenant_id(copied.tenant),
        "name": copied.name,
        "added": asdict(copied.added),
        "unchanged": asdict(copied.unchanged),
        "keys": 0 if keys is None else keys.carried,
        "keys_of_deleted_projects": 0 if keys is None else keys.of_deleted_projects,
        "keys_only_at_target": 0 if keys is None else keys.only_there,
        "exclusions": copied.exclusions,
        "exclusions_left_out": copied.exclusions_left_out,
        "is_same": not copied.differences,
        "differences": list(copied.differences),
    }


def _sentences(copied: CopiedTenant) -> list[str]:
    said = [f"{copied.name}: copied {listed_counts(asdict(copied.added))}."]
    if any(asdict(copied.unchanged).values()):
        said.append(f"{copied.name}: there already {listed_counts(asdict(copied.unchanged))}.")
    keys = copied.keys
    if keys is not None and keys.carried:
        said.append(f"{copied.name}: {counted(keys.carried, 'API key')} of the source can be used.")
    if keys is not None and keys.of_deleted_projects:
        said.append(f"{copied.name}: {counted(keys.of_deleted_projects, 'API key')} of deleted projects left out.")
    if keys is not None and keys.only_there:
        said.append(
            f"{copied.name}: {counted(keys.only_there, 'API key')} of the target not of the source: check them."
        )
    if copied.exclusions_left_out:
        said.append(f"{copied.name}: {counted(copied.exclusions_left_out, 'exclusion')} of what was deleted left out.")
    return [*said, *(f"{copied.name}: DIFFERENT. {difference}." for difference in copied.differences)]


def _result(copied: Sequence[CopiedTenant], target: str) -> str:
    different = [each.name for each in copied if each.differences]
    if not different:
        return f"Compared: {counted(len(copied), 'tenant')} at {target} the same as at the source."
    return (
        f"Do not use {target}: {counted(len(different), 'tenant')} not the same as at the source. If the source changed since an "
        "earlier copy, copy into a new directory or an empty database."
    )
