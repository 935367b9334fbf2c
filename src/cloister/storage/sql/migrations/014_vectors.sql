-- One row for each additional embedder that ever embedded here; belongs to no tenant. `dimension` is 0 until its first vector, and
-- `used_at` is when a process that is configured with it last said so.
CREATE TABLE embedding_model (
    model_id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension BIGINT NOT NULL,
    used_at BIGINT NOT NULL
);

-- The vectors of additional embedders, deleted with their messages. Vectors of a session are written in the order of its messages;
-- the vector of a message that the embedder refuses is empty.
CREATE TABLE message_vector (
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL REFERENCES message (message_id) ON DELETE CASCADE,
    model_id BIGINT NOT NULL REFERENCES embedding_model (model_id),
    vector BYTEA NOT NULL,
    PRIMARY KEY (message_id, model_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id),
    CHECK (message_id >> 21 = session_id)
);

-- `embedded_version` is the version of the pool up to which the model `embedded_model_id` has embedded its messages, and
-- `embedding_until` the lease of the process that is embedding some.
ALTER TABLE pool ADD COLUMN embedded_model_id BIGINT;
ALTER TABLE pool ADD COLUMN embedded_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE pool ADD COLUMN embedding_until BIGINT NOT NULL DEFAULT 0;

-- Raised whenever vectors are added to a pool; a session has the number of its last addition. A change of vectors is no change of
-- what was said, so it does not raise the pool's version, which others follow.
ALTER TABLE pool ADD COLUMN vectors_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN vectors_version BIGINT NOT NULL DEFAULT 0;
