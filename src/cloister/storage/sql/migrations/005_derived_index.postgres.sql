
-- Row-level security binds the owner too, so the update above found nothing: this role sees all tenants.
SET LOCAL ROLE cloister_maintenance;
UPDATE memory SET indexed_at = created_at WHERE vector IS NOT NULL;
RESET ROLE;
