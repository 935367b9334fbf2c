-- Every key of a tenant's table begins with the tenant, so that a table can be distributed by it (Citus), and no id of one tenant
-- can meet that of another. `UNIQUE (tenant_id, id)` becomes the primary key; the foreign keys are made again on it.

ALTER TABLE entity_change DROP CONSTRAINT entity_change_tenant_id_entity_id_fkey;
ALTER TABLE entity_change DROP CONSTRAINT entity_change_tenant_id_other_id_fkey;
ALTER TABLE entity_relation DROP CONSTRAINT entity_relation_tenant_id_object_id_fkey;
ALTER TABLE entity_relation DROP CONSTRAINT entity_relation_tenant_id_session_id_fkey;
ALTER TABLE entity_relation DROP CONSTRAINT entity_relation_tenant_id_subject_id_fkey;
ALTER TABLE exclusion DROP CONSTRAINT exclusion_tenant_id_entity_id_fkey;
ALTER TABLE exclusion DROP CONSTRAINT exclusion_tenant_id_memory_id_fkey;
ALTER TABLE exclusion DROP CONSTRAINT exclusion_tenant_id_session_id_fkey;
ALTER TABLE idempotency DROP CONSTRAINT idempotency_tenant_id_session_id_fkey;
ALTER TABLE memory_file DROP CONSTRAINT memory_file_tenant_id_session_id_fkey;
ALTER TABLE memory_replacement DROP CONSTRAINT memory_replacement_tenant_id_newer_id_fkey;
ALTER TABLE memory_replacement DROP CONSTRAINT memory_replacement_tenant_id_older_id_fkey;
ALTER TABLE memory_revision DROP CONSTRAINT memory_revision_tenant_id_memory_id_fkey;
ALTER TABLE memory_source DROP CONSTRAINT memory_source_tenant_id_memory_id_fkey;
ALTER TABLE memory DROP CONSTRAINT memory_tenant_id_session_id_fkey;
ALTER TABLE mention DROP CONSTRAINT mention_tenant_id_entity_id_fkey;
ALTER TABLE mention DROP CONSTRAINT mention_tenant_id_session_id_fkey;
ALTER TABLE message DROP CONSTRAINT message_tenant_id_session_id_fkey;
ALTER TABLE message_vector DROP CONSTRAINT message_vector_tenant_id_session_id_fkey;
ALTER TABLE observation DROP CONSTRAINT observation_tenant_id_session_id_fkey;
ALTER TABLE receipt DROP CONSTRAINT receipt_tenant_id_session_id_fkey;
ALTER TABLE session_item DROP CONSTRAINT session_item_tenant_id_session_id_fkey;
ALTER TABLE session_past DROP CONSTRAINT session_past_tenant_id_session_id_fkey;
ALTER TABLE session_response DROP CONSTRAINT session_response_tenant_id_session_id_fkey;
ALTER TABLE session DROP CONSTRAINT session_tenant_id_pool_id_fkey;
ALTER TABLE exclusion DROP CONSTRAINT exclusion_message_id_fkey;
ALTER TABLE message_vector DROP CONSTRAINT message_vector_message_id_fkey;

ALTER TABLE api_key DROP CONSTRAINT api_key_tenant_id_key_id_key, DROP CONSTRAINT api_key_pkey, ADD PRIMARY KEY (tenant_id, key_id);
ALTER TABLE entity DROP CONSTRAINT entity_tenant_id_entity_id_key, DROP CONSTRAINT entity_pkey, ADD PRIMARY KEY (tenant_id, entity_id);
ALTER TABLE memory DROP CONSTRAINT memory_tenant_id_memory_id_key, DROP CONSTRAINT memory_pkey, ADD PRIMARY KEY (tenant_id, memory_id);
ALTER TABLE memory_revision DROP CONSTRAINT memory_revision_tenant_id_revision_id_key, DROP CONSTRAINT memory_revision_pkey, ADD PRIMARY KEY (tenant_id, revision_id);
ALTER TABLE observation DROP CONSTRAINT observation_tenant_id_observation_id_key, DROP CONSTRAINT observation_pkey, ADD PRIMARY KEY (tenant_id, observation_id);
ALTER TABLE pool DROP CONSTRAINT pool_tenant_id_pool_id_key, DROP CONSTRAINT pool_pkey, ADD PRIMARY KEY (tenant_id, pool_id);
ALTER TABLE session DROP CONSTRAINT session_tenant_id_session_id_key, DROP CONSTRAINT session_pkey, ADD PRIMARY KEY (tenant_id, session_id);
ALTER TABLE entity_change DROP CONSTRAINT entity_change_pkey, ADD PRIMARY KEY (tenant_id, change_id);
ALTER TABLE entity_relation DROP CONSTRAINT entity_relation_pkey, ADD PRIMARY KEY (tenant_id, relation_id);
ALTER TABLE entry DROP CONSTRAINT entry_pkey, ADD PRIMARY KEY (tenant_id, entry_id);
ALTER TABLE exclusion DROP CONSTRAINT exclusion_pkey, ADD PRIMARY KEY (tenant_id, exclusion_id);
ALTER TABLE message DROP CONSTRAINT message_pkey, ADD PRIMARY KEY (tenant_id, message_id);
ALTER TABLE message_vector DROP CONSTRAINT message_vector_pkey, ADD PRIMARY KEY (tenant_id, message_id, model_id);

ALTER TABLE entity_change ADD CONSTRAINT entity_change_tenant_id_entity_id_fkey
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE;
ALTER TABLE entity_change ADD CONSTRAINT entity_change_tenant_id_other_id_fkey
    FOREIGN KEY (tenant_id, other_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE;
ALTER TABLE entity_relation ADD CONSTRAINT entity_relation_tenant_id_object_id_fkey
    FOREIGN KEY (tenant_id, object_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE;
ALTER TABLE entity_relation ADD CONSTRAINT entity_relation_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE entity_relation ADD CONSTRAINT entity_relation_tenant_id_subject_id_fkey
    FOREIGN KEY (tenant_id, subject_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE;
ALTER TABLE exclusion ADD CONSTRAINT exclusion_tenant_id_entity_id_fkey
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, entity_id) ON DELETE CASCADE;
ALTER TABLE exclusion ADD CONSTRAINT exclusion_tenant_id_memory_id_fkey
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, memory_id) ON DELETE CASCADE;
ALTER TABLE exclusion ADD CONSTRAINT exclusion_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE idempotency ADD CONSTRAINT idempotency_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE memory_file ADD CONSTRAINT memory_file_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE memory_replacement ADD CONSTRAINT memory_replacement_tenant_id_newer_id_fkey
    FOREIGN KEY (tenant_id, newer_id) REFERENCES memory (tenant_id, memory_id);
ALTER TABLE memory_replacement ADD CONSTRAINT memory_replacement_tenant_id_older_id_fkey
    FOREIGN KEY (tenant_id, older_id) REFERENCES memory (tenant_id, memory_id);
ALTER TABLE memory_revision ADD CONSTRAINT memory_revision_tenant_id_memory_id_fkey
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, memory_id);
ALTER TABLE memory_source ADD CONSTRAINT memory_source_tenant_id_memory_id_fkey
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, memory_id);
ALTER TABLE memory ADD CONSTRAINT memory_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE mention ADD CONSTRAINT mention_tenant_id_entity_id_fkey
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, entity_id);
ALTER TABLE mention ADD CONSTRAINT mention_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE message ADD CONSTRAINT message_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE message_vector ADD CONSTRAINT message_vector_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE observation ADD CONSTRAINT observation_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE receipt ADD CONSTRAINT receipt_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE session_item ADD CONSTRAINT session_item_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE session_past ADD CONSTRAINT session_past_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE session_response ADD CONSTRAINT session_response_tenant_id_session_id_fkey
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id);
ALTER TABLE session ADD CONSTRAINT session_tenant_id_pool_id_fkey
    FOREIGN KEY (tenant_id, pool_id) REFERENCES pool (tenant_id, pool_id);
ALTER TABLE exclusion ADD CONSTRAINT exclusion_tenant_id_message_id_fkey
    FOREIGN KEY (tenant_id, message_id) REFERENCES message (tenant_id, message_id) ON DELETE CASCADE;
ALTER TABLE message_vector ADD CONSTRAINT message_vector_tenant_id_message_id_fkey
    FOREIGN KEY (tenant_id, message_id) REFERENCES message (tenant_id, message_id) ON DELETE CASCADE;

DROP INDEX exclusion_by_message;
CREATE INDEX exclusion_by_message ON exclusion (tenant_id, message_id) WHERE message_id IS NOT NULL;

-- To be locked by the check of writes. Its check allows one value only.
GRANT UPDATE (only_row) ON notification_key TO cloister_maintenance;
