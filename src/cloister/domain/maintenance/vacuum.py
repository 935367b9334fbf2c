"""What giving space back achieved."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class VacuumReport:
    """The size of the database before and after. `is_waiting`: a reader is in the way, and the file shrinks when that ends.
    `skipped` are tables that the login does not own, and may not work on."""

    bytes_before: int
    bytes_after: int
    is_waiting: bool = False
    skipped: tuple[str, ...] = ()
