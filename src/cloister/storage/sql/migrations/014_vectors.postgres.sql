
GRANT SELECT, INSERT, UPDATE, DELETE ON message_vector TO cloister_tenant, cloister_maintenance;
ALTER TABLE message_vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_vector FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON message_vector TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON message_vector TO cloister_maintenance USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON embedding_model TO cloister_maintenance;
