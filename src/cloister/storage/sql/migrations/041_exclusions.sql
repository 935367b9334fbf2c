-- What a session does not recall although it is in its pool: one message, memory or entity a row. A row goes with its session and with what
-- it names. It counts only while the session is in the pool of what it names.
CREATE TABLE exclusion (
    exclusion_id BIGINT PRIMARY KEY,
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    message_id BIGINT REFERENCES message (message_id) ON DELETE CASCADE,
    memory_id BIGINT,
    entity_id BIGINT,
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, memory_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE
);

CREATE INDEX exclusion_by_session ON exclusion (tenant_id, session_id);
CREATE INDEX exclusion_by_message ON exclusion (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX exclusion_by_memory ON exclusion (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX exclusion_by_entity ON exclusion (tenant_id, entity_id) WHERE entity_id IS NOT NULL;
