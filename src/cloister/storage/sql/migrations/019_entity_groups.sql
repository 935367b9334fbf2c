-- An entity may be known by several names (MEM-17). Each name is a row of `entity`; `part_of` is the row under whose id they are one
-- entity, and empty in that row itself. `grouped_by_hand` says that a person merged or split the name, so that no rule changes it;
-- `name_by_hand` that a person added the name, so that it needs no mention of its own. `first_digest` is the digest of the first
-- word of the name. What a person corrected is in columns of its own: no extraction changes it. A deleted entity is shown nowhere,
-- and can be restored for a day.
ALTER TABLE entity ADD COLUMN part_of BIGINT;
ALTER TABLE entity ADD COLUMN grouped_by_hand BIGINT NOT NULL DEFAULT 0;
ALTER TABLE entity ADD COLUMN name_by_hand BIGINT NOT NULL DEFAULT 0;
ALTER TABLE entity ADD COLUMN first_digest BYTEA;
ALTER TABLE entity ADD COLUMN corrected_name TEXT;
ALTER TABLE entity ADD COLUMN corrected_type TEXT;
ALTER TABLE entity ADD COLUMN corrected_notes TEXT;
ALTER TABLE entity ADD COLUMN corrected_at BIGINT;
ALTER TABLE entity ADD COLUMN deleted_at BIGINT;

DROP INDEX entity_key;
CREATE UNIQUE INDEX entity_key ON entity (tenant_id, project_id, coalesce(user_id, ''), digest) WHERE deleted_at IS NULL;
CREATE INDEX entity_members ON entity (tenant_id, part_of) WHERE part_of IS NOT NULL;
CREATE INDEX entity_first_names ON entity (tenant_id, project_id, first_digest) WHERE first_digest IS NOT NULL;
CREATE INDEX entity_deleted ON entity (tenant_id, deleted_at) WHERE deleted_at IS NOT NULL;
DROP INDEX entity_unindexed;
CREATE INDEX entity_unindexed ON entity (tenant_id, project_id, entity_id)
WHERE indexed_at IS NULL AND part_of IS NULL AND deleted_at IS NULL;

-- What a message says of two entities: "Marta works at Acme". A relation of several messages has a row for each of them.
CREATE TABLE entity_relation (
    relation_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    subject_id BIGINT NOT NULL,
    object_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    relation TEXT NOT NULL,
    FOREIGN KEY (tenant_id, subject_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, object_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE INDEX entity_relation_by_subject ON entity_relation (tenant_id, subject_id);
CREATE INDEX entity_relation_by_object ON entity_relation (tenant_id, object_id);
CREATE INDEX entity_relation_by_session ON entity_relation (tenant_id, session_id);

-- Merges, splits and deletions of the last day, to be undone. `detail` has ids only: what was forgotten meanwhile cannot come back.
CREATE TABLE entity_change (
    change_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    entity_id BIGINT NOT NULL,
    other_id BIGINT,
    changed_at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, other_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE
);

CREATE INDEX entity_change_by_entity ON entity_change (tenant_id, entity_id);
CREATE INDEX entity_change_by_other ON entity_change (tenant_id, other_id);
CREATE INDEX entity_change_by_time ON entity_change (changed_at);
