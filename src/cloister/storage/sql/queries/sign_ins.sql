-- Links to the console and signed-in browsers. One that has expired is not found, even before it is deleted.

-- name: insert_sign_in
INSERT INTO sign_in (tenant_id, digest, kind, key_id, expires_at) VALUES (:tenant_id, :digest, :kind, :key_id, :expires_at)

-- name: sign_in
SELECT key_id, expires_at
FROM sign_in
WHERE tenant_id = :tenant_id AND digest = :digest AND kind = :kind AND expires_at > :now

-- name: extend_sign_in
UPDATE sign_in SET expires_at = :expires_at
WHERE tenant_id = :tenant_id AND digest = :digest AND kind = :kind AND expires_at > :now

-- name: delete_sign_in
DELETE FROM sign_in WHERE tenant_id = :tenant_id AND digest = :digest AND kind = :kind
RETURNING key_id, expires_at

-- name: delete_expired_sign_ins
DELETE FROM sign_in WHERE tenant_id = :tenant_id AND expires_at <= :now

-- name: delete_oldest_sign_ins
-- All of a key but the newest ones.
DELETE FROM sign_in
WHERE tenant_id = :tenant_id AND digest IN (
    SELECT digest FROM sign_in
    WHERE tenant_id = :tenant_id AND key_id = :key_id AND kind = :kind
    ORDER BY expires_at DESC, digest
    LIMIT 1000000 OFFSET :most
)
