
DO $walls$
DECLARE
    table_name TEXT;
BEGIN
    FOREACH table_name IN ARRAY ARRAY['memory', 'memory_source', 'entity', 'mention', 'observation', 'session_past'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cloister_tenant, cloister_maintenance', table_name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
        EXECUTE format(
            'CREATE POLICY tenant_walls ON %I TO cloister_tenant USING '
            '(tenant_id = CAST(nullif(current_setting(''cloister.tenant'', true), '''') AS BIGINT))',
            table_name);
        EXECUTE format('CREATE POLICY maintenance ON %I TO cloister_maintenance USING (true)', table_name);
    END LOOP;
END
$walls$;

-- Row-level security binds the owner too, so the update above found nothing: this role sees all tenants.
SET LOCAL ROLE cloister_maintenance;
UPDATE session SET unchecked_count = (
    SELECT count(*) FROM message
    WHERE message_id BETWEEN session.session_id << 21 AND (session.session_id << 21) + 2097151 AND status = 'completed'
) WHERE message_count > 0;
RESET ROLE;
