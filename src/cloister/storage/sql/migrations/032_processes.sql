-- Links to the console (`link`) and browsers that are signed in (`browser`), with the key that they stand for. Only the hash of a code or
-- token is stored. They are in the database so that every process knows them.
CREATE TABLE sign_in (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    digest BYTEA NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('link', 'browser')),
    key_id BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, digest)
);

CREATE INDEX sign_in_by_key ON sign_in (tenant_id, key_id, kind, expires_at);

-- The processes that serve this database over HTTP, and where the others reach each. A process proves by `secret` that it is the one that
-- wrote its row; that of one that died stays until another finds nobody at its address.
CREATE TABLE process (
    process_id BIGINT PRIMARY KEY,
    address TEXT NOT NULL,
    secret BYTEA NOT NULL,
    started_at BIGINT NOT NULL
);
