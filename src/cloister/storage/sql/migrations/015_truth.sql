-- What is true changes: since when and until when a memory is, which one took its place, and what people changed of it.

-- `valid_from` is when the memory was said. `superseded_by` is the memory that took its place, and `valid_until` the `valid_from` of that
-- one. `subject` is the key of a fact that has one value at a time. `categories` is a JSON list, `metadata` a JSON object.
ALTER TABLE memory ADD COLUMN valid_from BIGINT NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN valid_until BIGINT;
ALTER TABLE memory ADD COLUMN superseded_by BIGINT;
ALTER TABLE memory ADD COLUMN retracted_at BIGINT;
ALTER TABLE memory ADD COLUMN expires_at BIGINT;
ALTER TABLE memory ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1));
ALTER TABLE memory ADD COLUMN source TEXT NOT NULL DEFAULT 'written'
    CHECK (source IN ('extracted', 'written', 'corrected', 'imported'));
ALTER TABLE memory ADD COLUMN subject TEXT CHECK (subject <> '');
ALTER TABLE memory ADD COLUMN categories TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';

CREATE INDEX memory_superseded ON memory (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_by_subject ON memory (tenant_id, session_id, subject) WHERE subject IS NOT NULL;

-- Two memories of which an extractor said that the newer one makes the older one untrue. Their order in time decides, wherever their
-- sessions are at the moment: the pair counts only while both are in one pool.
CREATE TABLE memory_replacement (
    tenant_id BIGINT NOT NULL,
    older_id BIGINT NOT NULL,
    newer_id BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, older_id, newer_id),
    FOREIGN KEY (tenant_id, older_id) REFERENCES memory (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, newer_id) REFERENCES memory (tenant_id, memory_id)
);

CREATE INDEX memory_replacement_by_newer ON memory_replacement (tenant_id, newer_id);

-- One change of a memory by a person. `before` is the memory as it was, as JSON; `digest` is that of its text, if the text was changed.
-- `changed_by` is the id of an API key, or empty in a process that opened the database itself. A change that was undone has an
-- `undone_at`.
CREATE TABLE memory_revision (
    revision_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    memory_id BIGINT NOT NULL,
    action TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT,
    undone_at BIGINT,
    digest BYTEA,
    before TEXT NOT NULL,
    UNIQUE (tenant_id, revision_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, memory_id)
);

CREATE INDEX memory_revision_by_memory ON memory_revision (tenant_id, memory_id, changed_at);

UPDATE memory SET
    valid_from = coalesce((
        SELECT min(said.created_at) FROM memory_source AS named
        JOIN message AS said ON said.message_id = named.message_id AND said.tenant_id = named.tenant_id
        WHERE named.tenant_id = memory.tenant_id AND named.memory_id = memory.memory_id
    ), created_at),
    source = CASE WHEN EXISTS (
        SELECT 1 FROM memory_source AS named
        WHERE named.tenant_id = memory.tenant_id AND named.memory_id = memory.memory_id
    ) THEN 'extracted' ELSE 'written' END;
