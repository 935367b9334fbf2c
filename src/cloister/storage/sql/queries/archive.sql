-- What an export reads: all of a tenant, of one project (:project_id) or of one user (:user_id); and what an import adds to.

-- name: archive_projects
-- Of a user: the projects of the user's sessions, files and entries.
SELECT {project_columns}
FROM project
WHERE tenant_id = :tenant_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
    AND (
        (CAST(:user_id AS TEXT) IS NULL AND CAST(:bound_user AS TEXT) IS NULL)
        OR EXISTS (
            SELECT 1 FROM session AS s
            WHERE s.tenant_id = :tenant_id AND s.project_id = project.project_id
                AND (CAST(:user_id AS TEXT) IS NULL OR s.user_id = :user_id)
                AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
        )
        OR EXISTS (
            SELECT 1 FROM pool AS p
            JOIN memory_file AS f ON f.tenant_id = p.tenant_id AND f.recalled_pool_id = p.pool_id
            JOIN session AS s ON s.tenant_id = f.tenant_id AND s.session_id = f.session_id
            WHERE p.tenant_id = :tenant_id AND p.project_id = project.project_id
                AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
                AND (CAST(:user_id AS TEXT) IS NULL OR s.user_id = :user_id)
                AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
        )
        OR EXISTS (
            SELECT 1 FROM entry AS e
            WHERE e.tenant_id = :tenant_id AND e.project_id = project.project_id
                AND (CAST(:user_id AS TEXT) IS NULL OR e.user_id = :user_id)
                AND (CAST(:bound_user AS TEXT) IS NULL OR e.user_id = :bound_user)
        )
    )
ORDER BY project_id

-- name: archive_sessions
SELECT
    s.session_id, s.external_id, s.project_id, s.user_id, s.title, s.tags, s.metadata, s.next_sequence, s.episode_id,
    s.observed_message_id, s.created_at, s.updated_at, s.pinned, s.archived, s.system_prompt, s.model, s.settled_message_id,
    s.pool_id, p.user_id
FROM session AS s
JOIN pool AS p ON p.tenant_id = s.tenant_id AND p.pool_id = s.pool_id
WHERE s.tenant_id = :tenant_id AND s.pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND (CAST(:project_id AS BIGINT) IS NULL OR s.project_id = :project_id)
    AND (CAST(:user_id AS TEXT) IS NULL OR s.user_id = :user_id)
ORDER BY s.session_id

-- name: archive_observations
SELECT observation_id, content, sources, first_message_id, last_message_id, said_at, created_at FROM observation
WHERE tenant_id = :tenant_id AND session_id = :session_id
ORDER BY observation_id

-- name: archive_revisions
SELECT revision_id, action, changed_by, digest, before, changed_at, undone_at FROM memory_revision
WHERE tenant_id = :tenant_id AND memory_id = :memory_id
ORDER BY revision_id

-- name: archive_memory_digests
-- The digests of a session's memories, and how many changes by people each has.
SELECT m.memory_id, m.digest, (
    SELECT count(*) FROM memory_revision AS r WHERE r.tenant_id = :tenant_id AND r.memory_id = m.memory_id
)
FROM memory AS m
WHERE m.tenant_id = :tenant_id AND m.session_id = :session_id

-- name: archive_replacements
-- Both memories are of exported sessions.
SELECT r.older_id, r.newer_id
FROM memory_replacement AS r
JOIN memory AS m ON m.tenant_id = r.tenant_id AND m.memory_id = r.older_id
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
JOIN memory AS n ON n.tenant_id = r.tenant_id AND n.memory_id = r.newer_id
JOIN session AS t ON t.tenant_id = n.tenant_id AND t.session_id = n.session_id
WHERE r.tenant_id = :tenant_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR (s.project_id = :confined_to AND t.project_id = :confined_to))
    AND (CAST(:bound_user AS TEXT) IS NULL OR (s.user_id = :bound_user AND t.user_id = :bound_user))
    AND (CAST(:project_id AS BIGINT) IS NULL OR (s.project_id = :project_id AND t.project_id = :project_id))
    AND (CAST(:user_id AS TEXT) IS NULL OR (s.user_id = :user_id AND t.user_id = :user_id))
ORDER BY r.older_id, r.newer_id

-- name: archive_items
-- What follows the messages of a session in OpenAI's format, in order. Items that are not messages are left out if they were made in
-- another pool than the one that the session is in.
SELECT {item_columns} FROM session_item
WHERE tenant_id = :tenant_id AND message_id >= :first AND message_id <= :last
    AND (position = 0 OR recalled_pool_id = :pool_id)
ORDER BY message_id, position

-- name: archive_responses
SELECT response_id, question_id, reply_id, owns_messages, body FROM session_response
WHERE tenant_id = :tenant_id AND session_id = :session_id
ORDER BY response_id

-- name: archive_files
-- The files and directories of an exported session, with the pool in which they were stored, and the project and the user of that.
SELECT p.project_id, f.path, f.recalled_pool_id, p.user_id, CAST(CASE WHEN f.content IS NULL THEN 1 ELSE 0 END AS BIGINT), f.updated_at
FROM memory_file AS f
JOIN pool AS p ON p.tenant_id = f.tenant_id AND p.pool_id = f.recalled_pool_id
JOIN session AS s ON s.tenant_id = f.tenant_id AND s.session_id = f.session_id
WHERE f.tenant_id = :tenant_id AND f.session_id = :session_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR p.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND (CAST(:project_id AS BIGINT) IS NULL OR p.project_id = :project_id)

-- columns: archived_entry
project_id, user_id, namespace, entry_key, value, created_at, updated_at, ttl, expires_at, index_paths, vector_model,
    CASE WHEN substr(vector_model, 1, length(CAST(:given AS TEXT))) = :given THEN vectors END
FROM entry
WHERE tenant_id = :tenant_id AND (expires_at IS NULL OR expires_at > :now)
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
    AND (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
    AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
    AND (
        project_id IS NULL
        OR project_id IN (SELECT p.project_id FROM project AS p WHERE p.tenant_id = :tenant_id AND p.deleted_at IS NULL)
    )

-- name: archive_entries
-- In the order of their addresses, bytes being compared.
SELECT {archived_entry}
ORDER BY coalesce(project_id, 0), coalesce(user_id, ''), namespace, entry_key

-- name: import_entry
INSERT INTO entry (
    entry_id, tenant_id, project_id, user_id, namespace, entry_key, created_at, updated_at, ttl, expires_at, index_paths,
    vector_model, vectors, value
)
VALUES (
    :entry_id, :tenant_id, :project_id, :user_id, :namespace, :entry_key, :created_at, :updated_at, :ttl, :expires_at,
    :index_paths, :vector_model, :vectors, :value
)
ON CONFLICT DO NOTHING

-- columns: archived_session
(CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND (CAST(:project_id AS BIGINT) IS NULL OR s.project_id = :project_id)
    AND (CAST(:user_id AS TEXT) IS NULL OR s.user_id = :user_id)

-- columns: archived_entity
(CAST(:confined_to AS BIGINT) IS NULL OR e.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR e.user_id IS NULL OR e.user_id = :bound_user)
    AND (CAST(:project_id AS BIGINT) IS NULL OR e.project_id = :project_id)
    AND (CAST(:user_id AS TEXT) IS NULL OR e.user_id IS NULL OR e.user_id = :user_id)

-- name: archive_entities
-- The names of live projects that exported sessions mention, those of one entity together; the name with the entity's id is first, or
-- the oldest one if that name is not exported. A name that no message mentions comes with its entity. Of a user: no other user's part,
-- and what people added to an entity that is in nobody's part (`is_whole`) only if no session of others mentions it.
SELECT
    entity_id, project_id, user_id, name, type, created_at, part_of, grouped_by_hand, name_by_hand, corrected_name,
    corrected_type, corrected_notes, corrected_at, CAST(is_whole AS BIGINT), first_id
FROM (
    SELECT
        entity_id, project_id, user_id, name, type, created_at, part_of, grouped_by_hand, name_by_hand, corrected_name,
        corrected_type, corrected_notes, corrected_at, is_silent, is_whole,
        first_value(entity_id) OVER (
            PARTITION BY coalesce(part_of, entity_id)
            ORDER BY CASE WHEN part_of IS NULL THEN 0 ELSE 1 END, is_silent, created_at, entity_id
        ) AS first_id
    FROM (
        SELECT
            e.entity_id, e.project_id, e.user_id, e.name, e.type, e.created_at, e.part_of, e.grouped_by_hand,
            e.name_by_hand, e.corrected_name, e.corrected_type, e.corrected_notes, e.corrected_at,
            CASE
                WHEN EXISTS (
                    SELECT 1 FROM mention AS m
                    JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
                    WHERE m.tenant_id = :tenant_id AND m.entity_id = e.entity_id AND {archived_session}
                ) THEN 0
                WHEN NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.tenant_id = :tenant_id AND m.entity_id = e.entity_id)
                    AND EXISTS (
                        SELECT 1 FROM entity AS g
                        JOIN mention AS m ON m.tenant_id = g.tenant_id AND m.entity_id = g.entity_id
                        JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
                        WHERE g.tenant_id = :tenant_id
                            AND (g.entity_id = coalesce(e.part_of, e.entity_id) OR g.part_of = coalesce(e.part_of, e.entity_id))
                            AND {archived_session}
                    ) THEN 1
            END AS is_silent,
            CASE
                WHEN (CAST(:user_id AS TEXT) IS NULL AND CAST(:bound_user AS TEXT) IS NULL) OR e.user_id IS NOT NULL THEN 1
                WHEN EXISTS (
                    SELECT 1 FROM entity AS g
                    JOIN mention AS m ON m.tenant_id = g.tenant_id AND m.entity_id = g.entity_id
                    JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
                    WHERE g.tenant_id = :tenant_id
                        AND (g.entity_id = coalesce(e.part_of, e.entity_id) OR g.part_of = coalesce(e.part_of, e.entity_id))
                        AND s.user_id IS DISTINCT FROM coalesce(CAST(:user_id AS TEXT), CAST(:bound_user AS TEXT))
                ) THEN 0
                ELSE 1
            END AS is_whole
        FROM entity AS e
        JOIN project AS p ON p.tenant_id = e.tenant_id AND p.project_id = e.project_id AND p.deleted_at IS NULL
        WHERE e.tenant_id = :tenant_id AND e.deleted_at IS NULL AND {archived_entity}
    ) AS found
    WHERE is_silent IS NOT NULL AND (is_silent = 0 OR is_whole = 1)
) AS grouped
ORDER BY first_id, CASE WHEN entity_id = first_id THEN 0 ELSE 1 END, is_silent, entity_id

-- name: archive_relations
-- Between names of one part of a project that exported sessions mention.
SELECT DISTINCT r.subject_id, r.relation, r.object_id, r.message_id, r.created_at
FROM entity_relation AS r
JOIN session AS s ON s.tenant_id = r.tenant_id AND s.session_id = r.session_id
JOIN entity AS e ON e.tenant_id = r.tenant_id AND e.entity_id = r.subject_id
JOIN entity AS o ON o.tenant_id = r.tenant_id AND o.entity_id = r.object_id
JOIN project AS p ON p.tenant_id = e.tenant_id AND p.project_id = e.project_id
WHERE r.tenant_id = :tenant_id AND e.deleted_at IS NULL AND o.deleted_at IS NULL AND p.deleted_at IS NULL
    AND o.project_id = e.project_id AND o.user_id IS NOT DISTINCT FROM e.user_id
    AND {archived_entity}
    AND {archived_session}
    AND EXISTS (
        SELECT 1 FROM mention AS m
        JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
        WHERE m.tenant_id = :tenant_id AND m.entity_id = r.subject_id AND {archived_session}
    )
    AND EXISTS (
        SELECT 1 FROM mention AS m
        JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
        WHERE m.tenant_id = :tenant_id AND m.entity_id = r.object_id AND {archived_session}
    )
ORDER BY r.subject_id, r.object_id, r.relation, r.message_id, r.created_at

-- name: archive_mentions
SELECT m.message_id, m.notes, m.created_at
FROM mention AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.entity_id = :entity_id AND {archived_session}
ORDER BY m.message_id

-- name: restore_project
UPDATE project SET deleted_at = NULL WHERE tenant_id = :tenant_id AND project_id = :project_id AND deleted_at IS NOT NULL

-- name: delete_unused_default_project
-- The project that a new tenant begins with, if the tenant never had a session and no key names the project.
DELETE FROM project
WHERE tenant_id = :tenant_id AND is_default = 1 AND settings = '{}' AND name = :name
    AND NOT EXISTS (SELECT 1 FROM pool AS o WHERE o.tenant_id = :tenant_id AND o.project_id = project.project_id)
    AND NOT EXISTS (SELECT 1 FROM session AS s WHERE s.tenant_id = :tenant_id)
    AND NOT EXISTS (SELECT 1 FROM entity AS e WHERE e.tenant_id = :tenant_id AND e.project_id = project.project_id)
    AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.tenant_id = :tenant_id AND e.project_id = project.project_id)
    AND NOT EXISTS (SELECT 1 FROM api_key AS k WHERE k.tenant_id = :tenant_id AND k.project_id = project.project_id)
    AND NOT EXISTS (SELECT 1 FROM session_past AS b WHERE b.tenant_id = :tenant_id AND b.project_id = project.project_id)

-- name: import_session
-- Returns no row if the id or the external id is taken.
INSERT INTO session (
    session_id, tenant_id, external_id, project_id, pool_id, user_id, title, tags, metadata, next_sequence, episode_id,
    observed_message_id, settled_message_id, message_count, changed_version, rebuilt_version, created_at, updated_at, pinned,
    archived, system_prompt, model
) VALUES (
    :session_id, :tenant_id, :external_id, :project_id, :pool_id, :user_id, :title, :tags, :metadata, :next_sequence,
    :episode_id, :observed_message_id, :settled_message_id, 0, :version, :version, :created_at, :updated_at, :pinned,
    :archived, :system_prompt, :model
)
ON CONFLICT DO NOTHING
RETURNING session_id

-- name: restore_session
-- A deleted session of the tenant, of which the bare id is left. Returns no row if there is none.
UPDATE session
SET external_id = :external_id, project_id = :project_id, pool_id = :pool_id, user_id = :user_id, title = :title,
    tags = :tags, metadata = :metadata, next_sequence = :next_sequence, episode_id = :episode_id,
    observed_message_id = :observed_message_id, settled_message_id = :settled_message_id, changed_version = :version,
    rebuilt_version = :version, created_at = :created_at, updated_at = :updated_at, pinned = :pinned, archived = :archived,
    system_prompt = :system_prompt, model = :model
WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NULL
RETURNING session_id

-- name: import_message
INSERT INTO message (
    message_id, tenant_id, session_id, role, status, author, created_at, generation, indexed_at, vector, terms, episode_id,
    tokens, metadata, content, recalled_pool_id, categories, is_memory_checked, checksum
) VALUES (
    :message_id, :tenant_id, :session_id, :role, :status, :author, :created_at, :generation, :indexed_at, :vector, :terms,
    :episode_id, :tokens, :metadata, :content, :recalled_pool_id, :categories,
    :is_memory_checked, :checksum
)

-- name: note_import
-- The age of its messages has to be looked at again, by a worker that has not read it yet: hence another number each time.
UPDATE session
SET aged_sequence = CASE WHEN aged_sequence > 0 THEN 0 ELSE aged_sequence - 1 END, oldest_at = NULL, message_count = message_count + :added, unchecked_count = unchecked_count + :unchecked, changed_version = :version,
    rebuilt_version = :version, episode_id = coalesce(episode_id, :episode_id),
    leaf_id = CASE WHEN is_forked = 1 THEN leaf_id ELSE (
        SELECT max(m.message_id) FROM message AS m
        WHERE m.tenant_id = :tenant_id AND m.message_id > :first AND m.message_id <= :last
    ) END,
    next_sequence = CASE WHEN next_sequence > :next_sequence THEN next_sequence ELSE :next_sequence END,
    updated_at = CASE WHEN updated_at > :updated_at THEN updated_at ELSE :updated_at END
WHERE tenant_id = :tenant_id AND session_id = :session_id
RETURNING unchecked_count

-- name: later_message
SELECT message_id FROM message WHERE tenant_id = :tenant_id AND message_id > :message_id AND message_id <= :last LIMIT 1

-- name: session_of_memory
SELECT session_id FROM memory WHERE tenant_id = :tenant_id AND memory_id = :memory_id

-- name: memory_of_digest
SELECT memory_id FROM memory WHERE tenant_id = :tenant_id AND session_id = :session_id AND digest = :digest

-- name: set_memory_state
UPDATE memory SET pinned = :pinned, expires_at = :expires_at, retracted_at = :retracted_at
WHERE tenant_id = :tenant_id AND memory_id = :memory_id

-- name: memory_of_revision
SELECT memory_id FROM memory_revision WHERE tenant_id = :tenant_id AND revision_id = :revision_id

-- name: import_revision
-- Returns no row if the id is taken.
INSERT INTO memory_revision (
    revision_id, tenant_id, memory_id, action, changed_at, changed_by, undone_at, digest, before
) VALUES (
    :revision_id, :tenant_id, :memory_id, :action, :changed_at, :changed_by, :undone_at, :digest, :before
)
ON CONFLICT DO NOTHING
RETURNING revision_id

-- name: sessions_of_two_memories
-- If both are of the same user, and within the caller's reach.
SELECT s.session_id, t.session_id
FROM memory AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
JOIN memory AS n ON n.tenant_id = m.tenant_id AND n.memory_id = :other_id
JOIN session AS t ON t.tenant_id = n.tenant_id AND t.session_id = n.session_id
WHERE m.tenant_id = :tenant_id AND m.memory_id = :memory_id AND t.user_id IS NOT DISTINCT FROM s.user_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR (s.project_id = :confined_to AND t.project_id = :confined_to))
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)

-- name: import_replacement
INSERT INTO memory_replacement (tenant_id, older_id, newer_id) VALUES (:tenant_id, :older_id, :newer_id)
ON CONFLICT DO NOTHING

-- name: session_of_observation
SELECT session_id FROM observation WHERE tenant_id = :tenant_id AND observation_id = :observation_id

-- name: import_observation
-- Returns no row if the id is taken.
INSERT INTO observation (
    observation_id, tenant_id, session_id, first_message_id, last_message_id, created_at, said_at, sources, content
) VALUES (
    :observation_id, :tenant_id, :session_id, :first_message_id, :last_message_id, :created_at, :said_at, :sources, :content
)
ON CONFLICT DO NOTHING
RETURNING observation_id

-- name: messages_to_mention
-- Those of these messages that exist, with their sessions, within the caller's reach.
SELECT m.message_id, m.session_id, s.user_id
FROM json_each(CAST(:message_ids AS TEXT)) AS named
CROSS JOIN message AS m
CROSS JOIN session AS s
WHERE m.message_id = named.value AND m.tenant_id = :tenant_id AND s.session_id = m.session_id AND s.tenant_id = m.tenant_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)

-- name: names_to_relate
-- Those of these names that exist, with their parts, within the caller's reach.
SELECT entity_id, project_id, user_id FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT))) AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)

-- name: has_relation
SELECT relation_id FROM entity_relation
WHERE tenant_id = :tenant_id AND subject_id = :subject_id AND object_id = :object_id AND relation = :relation
    AND message_id = :message_id AND created_at = :created_at

-- name: import_item
INSERT INTO session_item (tenant_id, session_id, message_id, position, item_id, response_id, recalled_pool_id, item)
VALUES (:tenant_id, :session_id, :message_id, :position, :item_id, :response_id, :recalled_pool_id, :item)
ON CONFLICT DO NOTHING

-- name: import_response
INSERT INTO session_response (tenant_id, session_id, response_id, question_id, reply_id, owns_messages, body)
VALUES (:tenant_id, :session_id, :response_id, :question_id, :reply_id, :owns_messages, :body)
ON CONFLICT DO NOTHING

-- name: mentions_of_entity
SELECT message_id FROM mention
WHERE tenant_id = :tenant_id AND entity_id = :entity_id
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: messages_with_metadata
SELECT message_id, metadata, role, content FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last AND metadata <> '{}'

-- name: set_updated_at
UPDATE session SET updated_at = :updated_at WHERE tenant_id = :tenant_id AND session_id = :session_id
