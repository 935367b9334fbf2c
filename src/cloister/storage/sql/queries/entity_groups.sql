-- The names of entities, which of them are one entity, what a person changed, and the relations between entities (MEM-17).

-- name: entity_name
-- One name, also of a deleted entity, and if it is part of another: only to undo what was done with it.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND entity_id = :entity_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)

-- name: entity_names
-- Names by id, for ids that other queries returned.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
ORDER BY created_at, entity_id

-- name: names_of_entities
-- All names of these entities, also of deleted ones.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
UNION ALL
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND part_of IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))

-- name: full_names
-- The entities of one part that have a full name of a person with this first name; two are enough to know that it is not unique.
SELECT DISTINCT coalesce(part_of, entity_id) FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND first_digest = :first_digest AND digest <> :first_digest
    AND coalesce(corrected_type, type) = 'person' AND deleted_at IS NULL
LIMIT 2

-- name: first_names_of_names
-- The digests of the first words of these names, with the part of each.
SELECT project_id, user_id, first_digest FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))

-- name: set_entity_group
UPDATE entity SET part_of = :part_of, grouped_by_hand = :grouped_by_hand, revision = revision + 1
WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: set_entity_type
UPDATE entity SET type = :type, first_digest = :first_digest WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: correct_entity
UPDATE entity
SET corrected_name = :corrected_name, corrected_type = :corrected_type, corrected_notes = :corrected_notes,
    corrected_at = :corrected_at
WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: set_entity_deletion
UPDATE entity SET deleted_at = :deleted_at, revision = revision + 1
WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: expired_entities
SELECT entity_id FROM entity WHERE tenant_id = :tenant_id AND deleted_at <= :before

-- name: insert_entity_change
INSERT INTO entity_change (tenant_id, change_id, entity_id, other_id, changed_at, kind, detail)
VALUES (:tenant_id, :change_id, :entity_id, :other_id, :changed_at, :kind, :detail)

-- name: entity_changes
-- The changes of an entity, or with it, after a moment.
SELECT change_id, entity_id, other_id, changed_at, kind, detail FROM entity_change
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND changed_at > :since
UNION
SELECT change_id, entity_id, other_id, changed_at, kind, detail FROM entity_change
WHERE tenant_id = :tenant_id AND other_id = :entity_id AND changed_at > :since

-- name: delete_entity_change
DELETE FROM entity_change WHERE tenant_id = :tenant_id AND change_id = :change_id

-- name: expire_entity_changes
DELETE FROM entity_change WHERE tenant_id = :tenant_id AND changed_at <= :before

-- name: extractions_of_mentions
-- Which extractions gave these names these messages as mentions. The notes of one extraction cannot be split.
SELECT DISTINCT entity_id, session_id, created_at FROM mention
WHERE tenant_id = :tenant_id
    AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
ORDER BY entity_id, session_id, created_at

-- name: move_extracted_mentions
UPDATE mention SET entity_id = :to_entity_id
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND session_id = :session_id AND created_at = :created_at
    AND NOT EXISTS (
        SELECT 1 FROM mention AS other
        WHERE other.tenant_id = :tenant_id AND other.entity_id = :to_entity_id AND other.message_id = mention.message_id
    )

-- name: move_extracted_relations_of_subject
UPDATE entity_relation SET subject_id = :to_entity_id
WHERE tenant_id = :tenant_id AND subject_id = :entity_id
    AND session_id = :session_id AND created_at = :created_at

-- name: move_extracted_relations_of_object
UPDATE entity_relation SET object_id = :to_entity_id
WHERE tenant_id = :tenant_id AND object_id = :entity_id
    AND session_id = :session_id AND created_at = :created_at

-- name: entity_mentions
-- The messages of one pool that mention any of these names, latest first; what was moved to another pool is left out.
SELECT DISTINCT m.created_at, m.message_id
FROM mention AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND s.pool_id = :pool_id AND (m.created_at, m.message_id) < (:before_created_at, :before_message_id)
ORDER BY m.created_at DESC, m.message_id DESC
LIMIT :limit

-- name: mentioning_messages
SELECT DISTINCT m.message_id
FROM mention AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND m.message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT))) AND s.pool_id = :pool_id

-- name: insert_relation
INSERT INTO entity_relation (tenant_id, relation_id, subject_id, object_id, message_id, session_id, created_at, relation)
VALUES (:tenant_id, :relation_id, :subject_id, :object_id, :message_id, :session_id, :created_at, :relation)

-- name: relations_of_subjects
-- What these names are to other entities of the same part, latest first, with the pool of each message.
SELECT r.relation, coalesce(o.part_of, o.entity_id), r.message_id, s.pool_id
FROM entity_relation AS r
JOIN entity AS e ON e.tenant_id = r.tenant_id AND e.entity_id = r.subject_id
JOIN entity AS o ON o.tenant_id = r.tenant_id AND o.entity_id = r.object_id
JOIN session AS s ON s.tenant_id = r.tenant_id AND s.session_id = r.session_id
WHERE r.tenant_id = :tenant_id AND r.subject_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND o.project_id = e.project_id AND coalesce(o.user_id, '') = coalesce(e.user_id, '') AND o.deleted_at IS NULL
ORDER BY r.created_at DESC, r.message_id DESC, r.relation_id
LIMIT :limit

-- name: relations_of_objects
-- What other entities of the same part are to these names, latest first, with the pool of each message.
SELECT r.relation, coalesce(o.part_of, o.entity_id), r.message_id, s.pool_id
FROM entity_relation AS r
JOIN entity AS e ON e.tenant_id = r.tenant_id AND e.entity_id = r.object_id
JOIN entity AS o ON o.tenant_id = r.tenant_id AND o.entity_id = r.subject_id
JOIN session AS s ON s.tenant_id = r.tenant_id AND s.session_id = r.session_id
WHERE r.tenant_id = :tenant_id AND r.object_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND o.project_id = e.project_id AND coalesce(o.user_id, '') = coalesce(e.user_id, '') AND o.deleted_at IS NULL
ORDER BY r.created_at DESC, r.message_id DESC, r.relation_id
LIMIT :limit

-- name: move_relations_of_subject
UPDATE entity_relation SET subject_id = :to_entity_id
WHERE tenant_id = :tenant_id AND subject_id = :entity_id

-- name: move_relations_of_object
UPDATE entity_relation SET object_id = :to_entity_id
WHERE tenant_id = :tenant_id AND object_id = :entity_id

-- name: delete_session_relations
DELETE FROM entity_relation WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: delete_relations_of_message
-- With the rows of other messages that the same extraction gave the same relation.
DELETE FROM entity_relation
WHERE tenant_id = :tenant_id AND session_id = :session_id AND EXISTS (
    SELECT 1 FROM entity_relation AS r
    WHERE r.tenant_id = :tenant_id AND r.session_id = :session_id AND r.message_id = :message_id
        AND r.created_at = entity_relation.created_at AND r.relation = entity_relation.relation
        AND r.subject_id = entity_relation.subject_id AND r.object_id = entity_relation.object_id
)

-- name: give_relations_of_subject
-- Of one user's sessions, or of those without a user, as `give_mentions` does.
UPDATE entity_relation SET subject_id = :to_entity_id
WHERE tenant_id = :tenant_id AND subject_id = :entity_id
    AND EXISTS (
        SELECT 1 FROM session AS s
        WHERE s.tenant_id = :tenant_id AND s.session_id = entity_relation.session_id
            AND s.user_id IS NOT DISTINCT FROM CAST(:user_id AS TEXT)
    )

-- name: give_relations_of_object
UPDATE entity_relation SET object_id = :to_entity_id
WHERE tenant_id = :tenant_id AND object_id = :entity_id
    AND EXISTS (
        SELECT 1 FROM session AS s
        WHERE s.tenant_id = :tenant_id AND s.session_id = entity_relation.session_id
            AND s.user_id IS NOT DISTINCT FROM CAST(:user_id AS TEXT)
    )
