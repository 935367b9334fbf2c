
-- Row-level security binds the owner too, so the update above found nothing: this role sees all tenants.
SET LOCAL ROLE cloister_maintenance;
UPDATE message SET recalled_pool_id = (
    SELECT pool_id FROM session
    WHERE session.tenant_id = message.tenant_id AND session.session_id = message.session_id
) WHERE lower(content) LIKE '%recalled%memory%';
RESET ROLE;
