
GRANT SELECT, INSERT, UPDATE, DELETE ON session_item, session_response TO cloister_tenant, cloister_maintenance;
ALTER TABLE session_item ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_item FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON session_item TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON session_item TO cloister_maintenance USING (true);
ALTER TABLE session_response ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_response FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON session_response TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON session_response TO cloister_maintenance USING (true);
