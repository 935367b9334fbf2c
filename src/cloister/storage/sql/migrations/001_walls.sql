-- The tables of both engines. SQLite reads BIGINT as INTEGER, BYTEA as BLOB, and makes every table STRICT.
-- Every row carries its tenant, and every reference carries it too: a row cannot point across tenants.

CREATE TABLE tenant (
    tenant_id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE project (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    project_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    is_default BIGINT NOT NULL CHECK (is_default IN (0, 1)),
    member_visibility TEXT NOT NULL CHECK (member_visibility IN ('shared', 'private')),
    settings TEXT NOT NULL,
    memory_count BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT,
    PRIMARY KEY (tenant_id, project_id),
    CHECK (is_default = 0 OR deleted_at IS NULL)
);

CREATE UNIQUE INDEX project_default ON project (tenant_id) WHERE is_default = 1;

-- What may be recalled together. `version` rises with every change of what is in it; `removed_version` is the version at which a
-- session last left; `generation` is the index generation of its rows, 0 where they are of more than one.
CREATE TABLE pool (
    pool_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    project_id BIGINT,
    user_id TEXT CHECK (user_id <> ''),
    version BIGINT NOT NULL,
    removed_version BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    UNIQUE (tenant_id, pool_id),
    FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, project_id)
);

CREATE UNIQUE INDEX pool_key ON pool (tenant_id, coalesce(project_id, 0), coalesce(user_id, ''));

-- `changed_version` is the pool's version when anything here last changed, `rebuilt_version` when it was more than an append.
-- Of a deleted session the bare id stays, without a name or a pool: taking the row away would mean a search of all messages for one
-- that still refers to it, or an index on every message only to make that search short.
CREATE TABLE session (
    session_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    external_id TEXT,
    project_id BIGINT,
    pool_id BIGINT,
    user_id TEXT CHECK (user_id <> ''),
    title TEXT,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    next_sequence BIGINT NOT NULL,
    episode_id BIGINT,
    message_count BIGINT NOT NULL,
    changed_version BIGINT NOT NULL,
    rebuilt_version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (tenant_id, session_id),
    UNIQUE (tenant_id, external_id),
    FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, project_id),
    FOREIGN KEY (tenant_id, pool_id) REFERENCES pool (tenant_id, pool_id),
    CHECK ((external_id IS NULL) = (pool_id IS NULL))
);

CREATE INDEX session_by_pool ON session (tenant_id, pool_id, changed_version);
CREATE INDEX session_by_project ON session (tenant_id, project_id);
CREATE INDEX session_by_activity ON session (tenant_id, updated_at, session_id) WHERE pool_id IS NOT NULL;

-- `message_id` is session_id << 21 | sequence: the messages of a session lie together, in order.
-- The columns that fill a pool's block come before the content, so that loading one does not read what was said.
CREATE TABLE message (
    message_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    author TEXT,
    created_at BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    indexed_at BIGINT,
    vector BYTEA,
    terms BYTEA NOT NULL,
    episode_id BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    is_memory_checked BIGINT NOT NULL DEFAULT 0 CHECK (is_memory_checked IN (0, 1)),
    metadata TEXT NOT NULL,
    content TEXT NOT NULL,
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id),
    CHECK (message_id >> 21 = session_id)
);

CREATE INDEX message_unindexed ON message (tenant_id, message_id) WHERE indexed_at IS NULL;

-- The first answer to a request that came with an idempotency key.
CREATE TABLE idempotency (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    idempotency_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, idempotency_key)
);

CREATE INDEX idempotency_by_age ON idempotency (tenant_id, created_at);

-- What was forgotten here and may still be in an index outside the database; message_id 0 stands for the whole session.
CREATE TABLE index_removal (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    removal_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, removal_id)
);

-- One row for each pair of embedder and tokeniser that ever indexed here; belongs to no tenant.
CREATE TABLE generation (
    generation_id BIGINT PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE
);
