-- After how many days what was said is forgotten; NULL keeps it. The stricter of the tenant's and the project's applies. Of a project
-- it is a copy of the setting in `settings`, so that the worker finds the projects that have one.
ALTER TABLE tenant ADD COLUMN retention_days BIGINT CHECK (retention_days > 0);
ALTER TABLE project ADD COLUMN retention_days BIGINT CHECK (retention_days > 0);
CREATE INDEX tenant_retention ON tenant (tenant_id) WHERE retention_days IS NOT NULL;
CREATE INDEX project_retention ON project (tenant_id, project_id) WHERE retention_days IS NOT NULL;

-- No message of the session with a number below `aged_sequence` was said before `oldest_at`; NULL if there are none. The worker that
-- forgets old messages looks at a session again only for newer numbers, or when `oldest_at` is too old.
ALTER TABLE session ADD COLUMN aged_sequence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN oldest_at BIGINT;
-- Memories that say the same, for profiles.
CREATE INDEX memory_by_digest ON memory (tenant_id, digest);
CREATE INDEX memory_by_age ON memory (tenant_id, session_id, created_at);
