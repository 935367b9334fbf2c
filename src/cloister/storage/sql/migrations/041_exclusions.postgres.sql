GRANT SELECT, INSERT, UPDATE, DELETE ON exclusion TO cloister_tenant, cloister_maintenance;
ALTER TABLE exclusion ENABLE ROW LEVEL SECURITY;
ALTER TABLE exclusion FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON exclusion TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON exclusion TO cloister_maintenance USING (true);
