"""The lists for people who look through what is remembered, as one service."""

from cloister.domain.timestamps import Clock
from cloister.services.listing.activity import Activities
from cloister.services.listing.project_memories import ProjectMemories
from cloister.services.listing.timeline import Timelines
from cloister.storage.interface import Database


class Listings:
    def __init__(self, database: Database, clock: Clock) -> None:
        self.memories = ProjectMemories(database, clock)
        self.timelines = Timelines(database, clock)
        self.activities = Activities(database, clock)
