
DO $walls$
DECLARE
    table_name TEXT;
BEGIN
    FOREACH table_name IN ARRAY ARRAY['memory_replacement', 'memory_revision'] LOOP
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
UPDATE memory SET
    valid_from = coalesce((
        SELECT min(said.created_at) FROM memory_source AS named
        JOIN message AS said ON said.message_id = named.message_id AND said.tenant_id = named.tenant_id
        WHERE named.tenant_id = memory.tenant_id AND named.memory_id = memory.memory_id
    ), created_at),
    source = CASE WHEN EXISTS (
        SELECT 1 FROM memory_source AS named
        WHERE named.tenant_id = memory.tenant_id AND named.memory_id = memory.memory_id
    ) THEN 'extracted' ELSE 'written' END;
RESET ROLE;
