-- Who may come in, and how much a tenant may keep.

-- A key is looked up inside the tenant that it names itself; only a hash of its secret is here.
CREATE TABLE api_key (
    key_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    name TEXT NOT NULL,
    secret_hash BYTEA NOT NULL,
    project_id BIGINT,
    is_confined BIGINT NOT NULL CHECK (is_confined IN (0, 1)),
    permissions TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    UNIQUE (tenant_id, key_id),
    FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, project_id),
    CHECK (is_confined = 0 OR project_id IS NOT NULL)
);

CREATE INDEX api_key_by_age ON api_key (tenant_id, created_at, key_id) WHERE revoked_at IS NULL;

-- What a tenant keeps, in parts by session, so that writers of different sessions rarely wait for each other.
CREATE TABLE tenant_usage (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    part BIGINT NOT NULL,
    sessions BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, part)
);

INSERT INTO tenant_usage (tenant_id, part, sessions, messages)
SELECT tenant_id, session_id & 15, count(*), sum(message_count) FROM session WHERE pool_id IS NOT NULL
GROUP BY tenant_id, session_id & 15;

-- A limit of none is the server's own.
ALTER TABLE tenant ADD COLUMN message_limit BIGINT;
ALTER TABLE tenant ADD COLUMN session_limit BIGINT;
ALTER TABLE tenant ADD COLUMN project_limit BIGINT;
