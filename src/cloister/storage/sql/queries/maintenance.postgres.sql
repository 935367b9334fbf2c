-- name: totals
-- A sum of bigints is numeric in PostgreSQL.
SELECT
    (SELECT count(*) FROM tenant), (SELECT count(*) FROM project WHERE deleted_at IS NULL), (SELECT count(*) FROM session),
    (SELECT CAST(coalesce(sum(message_count), 0) AS BIGINT) FROM session)
