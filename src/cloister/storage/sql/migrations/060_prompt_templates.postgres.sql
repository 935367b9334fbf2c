GRANT SELECT, INSERT, UPDATE, DELETE ON prompt_template TO cloister_tenant, cloister_maintenance;
ALTER TABLE prompt_template ENABLE ROW LEVEL SECURITY;
ALTER TABLE prompt_template FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON prompt_template TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON prompt_template TO cloister_maintenance USING (true);
-- ANALYZE would keep samples of the texts after they are deleted, and no query compares them.
ALTER TABLE prompt_template ALTER COLUMN template SET STATISTICS 0;
