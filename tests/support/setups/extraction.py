"""Extraction without a worker's threads."""

from cloister.bootstrap import Services


def run_due(services: Services, limit: int = 16) -> int:
    """Extract sessions that are due; returns how many, with or without success."""
    done = 0
    while done < limit and (claim := services.claims.claim_due()) is not None:
        services.extraction.run(claim)
        done += 1
    return done
