-- Receipts (PRF-1): what a reply, a context or a search was given. `body` (JSON) has ids and numbers, never recalled text, which is looked up
-- when a receipt is read. A receipt of a session goes with its session, and with the question and the reply that it is about; its items are
-- shown only while the session is in the pool they were recalled from (ISO-12). Without a session, it is of a project and a user. `query` is
-- what a caller asked with words that no message has. The receipt of a reply has the number of the reply.
CREATE TABLE receipt (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    receipt_id BIGINT NOT NULL,
    session_id BIGINT,
    question_id BIGINT,
    reply_id BIGINT,
    project_id BIGINT,
    user_id TEXT,
    recalled_pool_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    query TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, receipt_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE INDEX receipt_by_session ON receipt (tenant_id, session_id, question_id);
CREATE INDEX receipt_by_pool ON receipt (tenant_id, recalled_pool_id);
CREATE INDEX receipt_by_user ON receipt (tenant_id, user_id) WHERE session_id IS NULL;
CREATE INDEX receipt_by_expiry ON receipt (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
