"""What was, or would be, distributed over the servers of a Citus cluster."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class DistributionReport:
    """`tables` have their rows on the servers of their tenants, `copied_tables` are whole on every server. `done_before` are tables
    that were distributed already. Rows are counted before the distribution."""

    citus_version: str
    servers: int
    shards: int
    tables: tuple[str, ...]
    copied_tables: tuple[str, ...]
    done_before: tuple[str, ...]
    rows: int
