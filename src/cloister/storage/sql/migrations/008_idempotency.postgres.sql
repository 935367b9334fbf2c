
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO cloister_tenant, cloister_maintenance;
ALTER TABLE idempotency ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_walls ON idempotency TO cloister_tenant
    USING (tenant_id = CAST(nullif(current_setting('cloister.tenant', true), '') AS BIGINT));
CREATE POLICY maintenance ON idempotency TO cloister_maintenance USING (true);
