"""Leases on sessions, for workers that extract and turns that answer: a lease that is not renewed expires, so that the session of a
process that died becomes free again."""

LEASE_SECONDS = 60
RENEWALS_PER_LEASE = 3
"""One renewal may fail, or come late, without losing the lease."""
