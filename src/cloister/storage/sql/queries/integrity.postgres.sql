-- name: texts_of_message
-- Under row-level security the planner uses the primary key only in this form: see pools.postgres.sql.
SELECT {message_texts}
FROM session AS s
CROSS JOIN LATERAL (
    SELECT session_id, checksum, message_id, role, author, metadata, content, categories FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
    ORDER BY message_id
) AS t
WHERE s.tenant_id = :tenant_id
