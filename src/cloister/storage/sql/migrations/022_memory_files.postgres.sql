
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_file TO cloister_tenant, cloister_maintenance;
ALTER TABLE memory_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_file FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON memory_file TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON memory_file TO cloister_maintenance USING (true);
-- ANALYZE would keep samples of the texts and names after they are deleted. Names are found by the primary key.
ALTER TABLE memory_file ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN path SET STATISTICS 0;
