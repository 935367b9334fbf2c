"""With Qdrant, an additional embedder orders the candidates of a pool, and of no other."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from cloister.bootstrap import wire
from cloister.domain.scope import Scope
from cloister.services.recall.search import EpisodeHit, SearchTarget
from cloister.storage.stores.pools import PoolStore
from support.samples.additional_embedder import Synonyms
from support.setups.qdrant import EMBEDDER, KINDS, open_house

SECRET = "The zorblat is under the stairs."


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_of_qdrant_have_the_similarities_of_the_additional_embedder(kind: str, tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"), open_house(kind, tmp_path / "data") as house:
        services = wire(house.services.database, index=house.index, embedder=EMBEDDER, additional_embedder=Synonyms())
        reach = house.tenant("friends")
        ours, other = (house.project(reach, name) for name in ("ours", "other"))
        for name, project in (("ours", ours), ("other", other)):
            house.session(reach, name, project)
            house.say(reach, name, "The weather is fine.", SECRET if project == ours else "Nothing is here.")
        house.drain()
        assert services.vectors is not None and services.recall.additional is not None
        assert services.vectors.drain() == 4
        vector = services.recall.query_vector(reach, "quimble")
        assert vector is not None
        for project in (ours, other):
            scope = Scope(tenant=reach.tenant, project=project, user=None)
            with services.database.read(reach) as transaction:
                rows = PoolStore(transaction, services.record.generation).rows(scope)
                assert rows is not None
                ids = services.index.within(rows).evidence("quimble", 0).ids
                found = services.recall.additional.similarities(transaction, rows.pool, ids, vector)
            assert found is not None and len(found.windowed) == 2
            assert (np.nanmax(found.windowed) > 0.8) == (project == ours)
            hits = services.search.search(
                reach, "quimble", SearchTarget(project=project), 9, ["episodes"], min_relevance=0
            )
            contents = {hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)}
            assert contents and contents <= {"The weather is fine.", SECRET if project == ours else "Nothing is here."}
