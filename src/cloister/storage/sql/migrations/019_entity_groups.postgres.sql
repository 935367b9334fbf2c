DO $walls$
DECLARE
    table_name TEXT;
BEGIN
    FOREACH table_name IN ARRAY ARRAY['entity_relation', 'entity_change'] LOOP
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
