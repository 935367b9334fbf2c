-- The pairs by the newer memory, without the table: SQLite, which keeps no statistics here, preferred to read all pairs of a tenant.
DROP INDEX memory_replacement_by_newer;
CREATE INDEX memory_replacement_by_newer ON memory_replacement (tenant_id, newer_id, older_id);
