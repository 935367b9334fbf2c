GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in TO cloister_tenant, cloister_maintenance;
ALTER TABLE sign_in ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_in FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON sign_in TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON sign_in TO cloister_maintenance USING (true);
GRANT SELECT, INSERT, DELETE ON process TO cloister_maintenance;
