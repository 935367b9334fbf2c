"""The additional embedder as it is recorded in the database: its name, the length of its vectors, and whether it is still in use.

Vectors are stored under the model's number, so those of two models are never compared.
"""

from typing import cast

from cloister.domain.errors import ModelUnavailable
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database

_MICROSECONDS = 1_000_000
# How often a process notes that its model is in use, and when another model counts as no longer used.
_NOTED_SECONDS = 600
_UNUSED_SECONDS = 3_600


class EmbeddingModel:
    """`id` is the model's number in this database."""

    def __init__(self, database: Database, name: str, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._noted_at = 0
        self.name = name
        self.id, _ = self._find()

    def require_dimension(self, dimension: int) -> None:
        """Record the length of the first vector; raise if a later one has another."""
        _, known = self._find()
        if not known:
            self._database.maintenance.write("set_embedding_dimension", model_id=self.id, dimension=dimension, known=0)
            _, known = self._find()
        if dimension != known:
            raise ModelUnavailable(
                f"The embedder ({self.name}) gives vectors of {dimension} numbers, and those stored under its name have {known}:"
                " it is another model. Give it another name, or replace what is stored: cloister reindex --everything"
            )

    def forget_dimension(self) -> None:
        """After all vectors of the model were removed."""
        _, known = self._find()
        self._database.maintenance.write("set_embedding_dimension", model_id=self.id, dimension=0, known=known)

    def note_use(self) -> None:
        """Note that this process uses the model, every few minutes."""
        now = self._clock()
        if now - self._noted_at > _NOTED_SECONDS * _MICROSECONDS:
            self._database.maintenance.write("note_embedding_model_use", model_id=self.id, now=now)
            self._noted_at = now

    def has_unused(self, *, at_once: bool) -> bool:
        """Whether there are other models that no process has used for an hour; with `at_once`, any others."""
        rows = self._database.maintenance.rows(
            "unused_embedding_models", model_id=self.id, before=self._used_before(at_once)
        )
        return bool(rows)

    def remove_unused(self, *, at_once: bool) -> None:
        """Remove the rows of unused models; their vectors have to be removed before."""
        self._database.maintenance.write("delete_embedding_models", model_id=self.id, before=self._used_before(at_once))

    def _used_before(self, at_once: bool) -> int:
        return self._clock() + 1 if at_once else self._clock() - _UNUSED_SECONDS * _MICROSECONDS

    def _find(self) -> tuple[int, int]:
        """The model's number and dimension; a new name gets the next number."""
        maintenance = self._database.maintenance
        while not (rows := maintenance.rows("embedding_model", name=self.name)):
            maintenance.write("insert_embedding_model", name=self.name, now=self._clock())
        return cast(tuple[int, int], rows[0])
