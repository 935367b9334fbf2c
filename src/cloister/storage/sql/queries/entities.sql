-- columns: entity_columns
entity_id, project_id, user_id, name, type, created_at, part_of, grouped_by_hand, name_by_hand, corrected_name, corrected_type,
corrected_notes, corrected_at, deleted_at

-- name: entity_by_digest
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND digest = :digest AND deleted_at IS NULL

-- name: entity
-- Under its own id only: a name that is part of another entity, and a deleted entity, are not found.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND part_of IS NULL AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)

-- name: found_entities
-- By id, in any project, even for a confined caller: an entity that it deletes mentions of may be in another project. Only for ids
-- that other queries returned.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND part_of IS NULL AND deleted_at IS NULL

-- name: insert_entity
INSERT INTO entity (
    entity_id, tenant_id, project_id, user_id, digest, first_digest, name, type, created_at, part_of, grouped_by_hand,
    name_by_hand, deleted_at, generation, vector, terms, indexed_at
) VALUES (
    :entity_id, :tenant_id, :project_id, :user_id, :digest, :first_digest, :name, :type, :created_at, :part_of, :grouped_by_hand,
    :name_by_hand, :deleted_at, :generation, :vector, :terms, :indexed_at
)
ON CONFLICT DO NOTHING
RETURNING entity_id

-- name: lock_entity
-- An update locks the row until the transaction ends; the new revision makes results of an indexer that read it before obsolete.
UPDATE entity SET revision = revision + 1 WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: set_entity_index
UPDATE entity SET generation = :generation, vector = :vector, terms = :terms, indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: insert_mention
INSERT INTO mention (tenant_id, message_id, entity_id, session_id, created_at, notes)
VALUES (:tenant_id, :message_id, :entity_id, :session_id, :created_at, :notes)
ON CONFLICT DO NOTHING

-- name: fill_mention
-- A mention without notes may be of a message that had left the current branch, and is read again now.
UPDATE mention SET notes = :notes, created_at = :created_at
WHERE tenant_id = :tenant_id AND message_id = :message_id AND entity_id = :entity_id AND session_id = :session_id
    AND notes = ''

-- name: mentions
-- The names of these entities, each in a row without a message, and their mentions, with the user of each session, the visibility of
-- the project, and the session if it is in the project now. In no order. An entity's own name and those that are part of it are
-- found by two indexes.
SELECT
    coalesce(e.part_of, e.entity_id), e.entity_id, e.name, e.type, e.grouped_by_hand, e.corrected_notes, e.corrected_at,
    CAST(NULL AS TEXT), CAST(NULL AS BIGINT), e.created_at, CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(NULL AS BIGINT)
FROM entity AS e
WHERE e.tenant_id = :tenant_id AND e.entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
UNION ALL
SELECT
    coalesce(e.part_of, e.entity_id), e.entity_id, e.name, e.type, e.grouped_by_hand, e.corrected_notes, e.corrected_at,
    CAST(NULL AS TEXT), CAST(NULL AS BIGINT), e.created_at, CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(NULL AS BIGINT)
FROM entity AS e
WHERE e.tenant_id = :tenant_id AND e.part_of IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
UNION ALL
SELECT
    coalesce(e.part_of, e.entity_id), e.entity_id, e.name, e.type, e.grouped_by_hand, e.corrected_notes, e.corrected_at,
    m.notes, m.message_id, m.created_at, s.user_id, p.member_visibility,
    CASE WHEN s.project_id = e.project_id THEN s.session_id END
FROM entity AS e
CROSS JOIN mention AS m
CROSS JOIN session AS s
CROSS JOIN project AS p
WHERE e.tenant_id = :tenant_id AND e.entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND m.tenant_id = e.tenant_id AND m.entity_id = e.entity_id
    AND s.tenant_id = m.tenant_id AND s.session_id = m.session_id
    AND p.tenant_id = e.tenant_id AND p.project_id = e.project_id
UNION ALL
SELECT
    coalesce(e.part_of, e.entity_id), e.entity_id, e.name, e.type, e.grouped_by_hand, e.corrected_notes, e.corrected_at,
    m.notes, m.message_id, m.created_at, s.user_id, p.member_visibility,
    CASE WHEN s.project_id = e.project_id THEN s.session_id END
FROM entity AS e
CROSS JOIN mention AS m
CROSS JOIN session AS s
CROSS JOIN project AS p
WHERE e.tenant_id = :tenant_id AND e.part_of IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND m.tenant_id = e.tenant_id AND m.entity_id = e.entity_id
    AND s.tenant_id = m.tenant_id AND s.session_id = m.session_id
    AND p.tenant_id = e.tenant_id AND p.project_id = e.project_id

-- name: withdrawn_statements
-- The digests of what these sessions state and is not true now: memories that are superseded, retracted or expired, unless the
-- session states the same again, and texts that a person corrected.
SELECT m.session_id, m.digest FROM memory AS m
WHERE m.tenant_id = :tenant_id AND m.session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
    AND (m.superseded_by IS NOT NULL OR m.retracted_at IS NOT NULL OR m.expires_at <= :now)
    AND NOT EXISTS (
        SELECT 1 FROM memory AS again
        WHERE again.tenant_id = :tenant_id AND again.session_id = m.session_id AND again.content = m.content
            AND again.superseded_by IS NULL AND again.retracted_at IS NULL
            AND (again.expires_at IS NULL OR again.expires_at > :now)
    )
UNION ALL
SELECT m.session_id, r.digest
FROM memory AS m
JOIN memory_revision AS r ON r.tenant_id = m.tenant_id AND r.memory_id = m.memory_id
WHERE m.tenant_id = :tenant_id AND m.session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
    AND r.digest IS NOT NULL AND r.undone_at IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM memory AS again
        WHERE again.tenant_id = :tenant_id AND again.session_id = m.session_id AND again.digest = r.digest
            AND again.superseded_by IS NULL AND again.retracted_at IS NULL
            AND (again.expires_at IS NULL OR again.expires_at > :now)
    )

-- name: noted_mentions
-- The notes that a session made on entities.
SELECT message_id, entity_id, notes FROM mention
WHERE tenant_id = :tenant_id AND session_id = :session_id AND notes <> ''

-- name: set_mention_notes
UPDATE mention SET notes = :notes
WHERE tenant_id = :tenant_id AND message_id = :message_id AND entity_id = :entity_id

-- name: entities
-- A page of the entities of one project, or of one user's part of it, oldest first.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND part_of IS NULL AND deleted_at IS NULL
    AND (created_at, entity_id) > (:after_created_at, :after_entity_id)
ORDER BY created_at, entity_id
LIMIT :limit

-- name: project_entities
-- By id, for ids that an index returned: only those that are in this project now.
SELECT
    e.entity_id, e.project_id, e.user_id, e.name, e.type, e.created_at, e.part_of, e.grouped_by_hand, e.name_by_hand,
    e.corrected_name, e.corrected_type, e.corrected_notes, e.corrected_at, e.deleted_at
FROM json_each(CAST(:entity_ids AS TEXT)) AS named
CROSS JOIN entity AS e
WHERE e.entity_id = named.value AND e.tenant_id = :tenant_id AND e.project_id = :project_id
    AND coalesce(e.user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND e.part_of IS NULL AND e.deleted_at IS NULL

-- name: entity_state
SELECT entity_version FROM project
WHERE tenant_id = :tenant_id AND project_id = :project_id AND deleted_at IS NULL

-- name: raise_entity_version
UPDATE project SET entity_version = entity_version + 1 WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: entity_rows
-- The index columns of a project's entities.
SELECT entity_id, 'user', CAST(NULL AS TEXT), created_at, vector, terms FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND generation = :generation
    AND part_of IS NULL AND deleted_at IS NULL

-- name: stale_entities_in_project
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND generation <> :generation
    AND part_of IS NULL AND deleted_at IS NULL
ORDER BY entity_id DESC
LIMIT :limit

-- name: stale_entity_count
SELECT count(*) FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND generation <> :generation AND part_of IS NULL AND deleted_at IS NULL

-- name: waiting_entity_count
SELECT count(*) FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND indexed_at IS NULL AND generation = :generation AND part_of IS NULL AND deleted_at IS NULL

-- name: entity_count
SELECT count(*) FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND part_of IS NULL AND deleted_at IS NULL

-- name: entities_of_session
SELECT DISTINCT +entity_id FROM mention WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: mentions_of_message
SELECT entity_id, session_id, created_at FROM mention WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: mention_contents
-- What a session says of entities, or one of its messages, with what these are called: by this name, and as they are shown.
SELECT DISTINCT
    e.name, e.type, m.notes, coalesce(shown.corrected_name, shown.name), coalesce(shown.corrected_type, shown.type),
    shown.corrected_notes
FROM mention AS m
JOIN entity AS e ON e.tenant_id = m.tenant_id AND e.entity_id = m.entity_id
JOIN entity AS shown ON shown.tenant_id = e.tenant_id AND shown.entity_id = coalesce(e.part_of, e.entity_id)
WHERE m.tenant_id = :tenant_id AND m.session_id = :session_id
    AND (CAST(:message_id AS BIGINT) IS NULL OR m.message_id = :message_id)

-- name: delete_session_mentions
DELETE FROM mention WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: delete_mentions_of_extraction
-- An extraction gives the same notes to all the messages that they came from.
DELETE FROM mention
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND session_id = :session_id AND created_at = :created_at

-- name: unmentioned_entities
-- Those of these names that have no mention, or no mention any more.
SELECT e.entity_id FROM entity AS e
WHERE e.tenant_id = :tenant_id AND e.entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.tenant_id = :tenant_id AND m.entity_id = e.entity_id)

-- name: projects_of_entities
SELECT DISTINCT +e.project_id
FROM json_each(CAST(:entity_ids AS TEXT)) AS named
CROSS JOIN entity AS e
WHERE e.tenant_id = :tenant_id AND e.entity_id = named.value

-- name: delete_entities
DELETE FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))

-- name: move_mentions
UPDATE mention SET entity_id = :to_entity_id
WHERE tenant_id = :tenant_id AND entity_id = :entity_id
    AND NOT EXISTS (
        SELECT 1 FROM mention AS other
        WHERE other.tenant_id = :tenant_id AND other.entity_id = :to_entity_id AND other.message_id = mention.message_id
    )

-- name: delete_mentions
DELETE FROM mention WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: retag_entity
UPDATE entity SET project_id = :project_id, user_id = :user_id WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: all_project_entities
-- All names of the entities of all users' parts of a project, including deleted ones.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id
ORDER BY entity_id

-- name: users_of_entity
-- The users whose sessions mention the entity; NULL for sessions without a user.
SELECT DISTINCT s.user_id
FROM mention AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.entity_id = :entity_id

-- name: give_mentions
-- Moves the mentions by one user's sessions, or by those without a user, to another entity.
UPDATE mention SET entity_id = :to_entity_id
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND EXISTS (
    SELECT 1 FROM session AS s
    WHERE s.tenant_id = :tenant_id AND s.session_id = mention.session_id
        AND s.user_id IS NOT DISTINCT FROM CAST(:user_id AS TEXT)
)

-- name: set_entity_user
UPDATE entity SET user_id = :user_id WHERE tenant_id = :tenant_id AND entity_id = :entity_id
