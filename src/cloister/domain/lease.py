"""Leases on sessions, for workers that extract and turns that answer: a lease that is not renewed expires, so that the session of a
process that died becomes free again."""

LEASE_SECONDS = 60
TURN_LEASE_SECONDS = 6
"""A turn is renewed so often that a question whose process died can be answered again after this time."""
RENEWALS_PER_LEASE = 3
"""One renewal may fail, or come late, without losing the lease."""
