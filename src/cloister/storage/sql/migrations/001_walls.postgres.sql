-- PostgreSQL repeats the walls: row-level security, forced, for roles that own nothing. `cloister_tenant` sees the rows of the
-- tenant that its transaction names and no row where it names none; `cloister_maintenance` serves queues and reindexing.
-- Roles belong to the whole server: another database, or an administrator, may have made and granted them already. What a login
-- may not do here is left undone; opening the database then says what is missing.

CREATE FUNCTION json_each(text) RETURNS TABLE (value BIGINT) LANGUAGE sql IMMUTABLE AS
    'SELECT CAST(element AS BIGINT) FROM json_array_elements_text(CAST($1 AS json)) AS element';

DO $walls$
DECLARE
    role_name TEXT;
    table_name TEXT;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['cloister_tenant', 'cloister_maintenance'] LOOP
        IF to_regrole(role_name) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;
            END;
        END IF;
        BEGIN
            EXECUTE format('GRANT %I TO CURRENT_USER', role_name);
        EXCEPTION WHEN insufficient_privilege THEN
            NULL;
        END;
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role_name);
    END LOOP;
    FOREACH table_name IN ARRAY ARRAY['tenant', 'project', 'pool', 'session', 'message', 'idempotency', 'index_removal'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cloister_tenant, cloister_maintenance', table_name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
        EXECUTE format(
            'CREATE POLICY tenant_walls ON %I TO cloister_tenant USING '
            '(tenant_id = CAST(nullif(current_setting(''cloister.tenant'', true), '''') AS BIGINT))',
            table_name);
        EXECUTE format('CREATE POLICY maintenance ON %I TO cloister_maintenance USING (true)', table_name);
    END LOOP;
    GRANT SELECT, INSERT ON generation TO cloister_maintenance;
    GRANT SELECT ON schema_migration TO cloister_maintenance;
END
$walls$;
