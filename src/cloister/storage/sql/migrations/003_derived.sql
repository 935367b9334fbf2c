-- What derives from what was said: memories, entities and observations. Each row names its sources, and goes when they go.

-- A session as a place of extraction. `unchecked_count` is how many completed messages nobody has looked at for memories; `due_at` is
-- when it should be looked at (none: not scheduled); `claim` and `claimed_until` are a worker's lease.
ALTER TABLE session ADD COLUMN memory_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN unchecked_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN due_at BIGINT;
ALTER TABLE session ADD COLUMN claim BIGINT;
ALTER TABLE session ADD COLUMN claimed_until BIGINT;
ALTER TABLE session ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN extraction_error TEXT;
ALTER TABLE session ADD COLUMN observed_message_id BIGINT NOT NULL DEFAULT 0;

CREATE INDEX session_due ON session (tenant_id, due_at, session_id) WHERE due_at IS NOT NULL;
CREATE INDEX session_observed ON session (tenant_id, pool_id, user_id) WHERE observed_message_id > 0;

-- Raised with every change of which memories are in the pool.
ALTER TABLE pool ADD COLUMN memory_version BIGINT NOT NULL DEFAULT 0;

-- Raised with every change of the project's entities.
ALTER TABLE project ADD COLUMN entity_version BIGINT NOT NULL DEFAULT 0;

-- `digest` is equal for statements that say the same. `importance` is in thousandths.
CREATE TABLE memory (
    memory_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    importance BIGINT CHECK (importance BETWEEN 0 AND 1000),
    created_at BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    vector BYTEA,
    terms BYTEA NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (tenant_id, memory_id),
    UNIQUE (tenant_id, session_id, digest),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE TABLE memory_source (
    tenant_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    memory_id BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, message_id, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, memory_id)
);

CREATE INDEX memory_source_by_memory ON memory_source (tenant_id, memory_id);

-- An entity keeps the project it was extracted in, and in a private project the user whose part of it that is: it is as wide as the
-- pool of its sources (ISO-10). `digest` is equal for names that are the same.
CREATE TABLE entity (
    entity_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL,
    user_id TEXT CHECK (user_id <> ''),
    digest BYTEA NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    vector BYTEA,
    terms BYTEA NOT NULL,
    UNIQUE (tenant_id, entity_id),
    FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, project_id)
);

CREATE UNIQUE INDEX entity_key ON entity (tenant_id, project_id, coalesce(user_id, ''), digest);
CREATE INDEX entity_by_age ON entity (tenant_id, project_id, created_at, entity_id);

-- What one episode says of an entity. Without mentions there is no entity.
CREATE TABLE mention (
    tenant_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    entity_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    notes TEXT NOT NULL,
    PRIMARY KEY (tenant_id, message_id, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, entity_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE INDEX mention_by_entity ON mention (tenant_id, entity_id, created_at);
CREATE INDEX mention_by_session ON mention (tenant_id, session_id);

-- A note that compresses a stretch of a session, from `first_message_id` to `last_message_id`.
CREATE TABLE observation (
    observation_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    first_message_id BIGINT NOT NULL,
    last_message_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    said_at BIGINT NOT NULL,
    sources TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (tenant_id, observation_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE INDEX observation_by_session ON observation (tenant_id, session_id, last_message_id);

UPDATE session SET unchecked_count = (
    SELECT count(*) FROM message
    WHERE message_id BETWEEN session.session_id << 21 AND (session.session_id << 21) + 2097151 AND status = 'completed'
) WHERE message_count > 0;

-- Where a session was before it moved: messages up to `last_message_id` were said in `project_id`, and nobody has yet looked at them
-- for entities.
CREATE TABLE session_past (
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    last_message_id BIGINT NOT NULL,
    project_id BIGINT,
    PRIMARY KEY (tenant_id, session_id, last_message_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id),
    FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, project_id)
);
