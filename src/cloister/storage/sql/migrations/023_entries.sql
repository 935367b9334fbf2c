-- Entries of the key-value store, each with the project and the user of the handle that stored it; without a project or a user they are
-- parts of their own. `namespace` is its labels, each followed by a full stop, as bytes: bytes are compared alike on both engines, and no
-- label has a full stop. `ttl` and `expires_at` are microseconds. `vectors` are 32-bit floats, all of one length; `vector_model` says what
-- computed them, and `index_paths` (JSON) from which parts of the value.
CREATE TABLE entry (
    entry_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    project_id BIGINT,
    user_id TEXT CHECK (user_id <> ''),
    namespace BYTEA NOT NULL,
    entry_key TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ttl BIGINT,
    expires_at BIGINT,
    index_paths TEXT,
    vector_model TEXT,
    vectors BYTEA,
    value TEXT NOT NULL,
    FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, project_id)
);

CREATE UNIQUE INDEX entry_address ON entry (tenant_id, coalesce(project_id, 0), coalesce(user_id, ''), namespace, entry_key);
CREATE INDEX entry_by_user ON entry (tenant_id, user_id);
CREATE INDEX entry_by_expiry ON entry (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
