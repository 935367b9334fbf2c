GRANT SELECT, INSERT, UPDATE, DELETE ON entry TO cloister_tenant, cloister_maintenance;
ALTER TABLE entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE entry FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON entry TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON entry TO cloister_maintenance USING (true);
-- What was stored is not sampled for statistics: no query compares these columns.
ALTER TABLE entry
    ALTER COLUMN value SET STATISTICS 0, ALTER COLUMN vectors SET STATISTICS 0, ALTER COLUMN index_paths SET STATISTICS 0;
