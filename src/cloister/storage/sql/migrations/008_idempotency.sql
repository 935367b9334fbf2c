-- What is known of a request that came with an idempotency key belongs to the session that it wrote to, by that session's own number, and
-- goes with what was forgotten. The old rows go: their fingerprints were plain hashes, from which a short secret could be tried out.
-- `request` is a hash of the kind, the place and the key; `fingerprint` is keyed with the tenant's secret and the idempotency key, which is
-- not stored. Both `fingerprint` and `answer` are empty where what they were made of was forgotten. `first_id` and `last_id` are the first and
-- last message of the answer; of a new API key they are the key that asked and the key that was made.
DROP TABLE idempotency;

CREATE TABLE idempotency (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    request BYTEA NOT NULL,
    kind TEXT NOT NULL,
    session_id BIGINT,
    first_id BIGINT,
    last_id BIGINT,
    fingerprint BYTEA,
    answer TEXT,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, request),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE INDEX idempotency_by_session ON idempotency (tenant_id, session_id);
CREATE INDEX idempotency_by_expiry ON idempotency (tenant_id, expires_at);

-- Made when it is first needed.
ALTER TABLE tenant ADD COLUMN secret BYTEA;
