
DO $walls$
DECLARE
    table_name TEXT;
BEGIN
    FOREACH table_name IN ARRAY ARRAY['api_key', 'tenant_usage'] LOOP
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

-- Row-level security binds the owner too, so the count above found nothing: this role sees all tenants.
SET LOCAL ROLE cloister_maintenance;
INSERT INTO tenant_usage (tenant_id, part, sessions, messages)
SELECT tenant_id, session_id & 15, count(*), sum(message_count) FROM session WHERE pool_id IS NOT NULL
GROUP BY tenant_id, session_id & 15
ON CONFLICT DO NOTHING;
RESET ROLE;
