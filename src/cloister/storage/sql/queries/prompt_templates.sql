-- The texts of prompts that receipts name (PRF-1): see the migration 060.

-- name: lock_template
-- A shared lock: the text cannot be removed until the transaction ends.
SELECT template_id FROM prompt_template
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0) AND digest = :digest
FOR KEY SHARE

-- name: insert_template
INSERT INTO prompt_template (tenant_id, template_id, project_id, digest, template)
VALUES (:tenant_id, :template_id, :project_id, :digest, :template)
ON CONFLICT DO NOTHING
RETURNING template_id

-- name: template_text
SELECT template FROM prompt_template
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0) AND digest = :digest

-- name: templates_of_session
SELECT DISTINCT template_id FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id AND template_id IS NOT NULL
ORDER BY template_id

-- name: templates_of_messages
-- Those of the receipts that are about any of these messages, as the question or as the reply.
SELECT DISTINCT template_id FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id AND template_id IS NOT NULL
    AND (
        question_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
        OR reply_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    )
ORDER BY template_id

-- name: templates_of_expired
SELECT DISTINCT template_id FROM receipt
WHERE tenant_id = :tenant_id AND expires_at <= :now AND template_id IS NOT NULL
ORDER BY template_id

-- name: lock_unused_templates
-- Those of these texts that no receipt names, as this transaction sees it. Waits for transactions that store a receipt that names one.
SELECT t.template_id FROM prompt_template AS t
WHERE t.tenant_id = :tenant_id AND t.template_id IN (SELECT value FROM json_each(CAST(:template_ids AS TEXT)))
    AND NOT EXISTS (
        SELECT 1 FROM receipt AS r WHERE r.tenant_id = :tenant_id AND r.template_id = t.template_id
    )
ORDER BY t.template_id
FOR UPDATE

-- name: delete_unused_templates
DELETE FROM prompt_template
WHERE tenant_id = :tenant_id AND template_id IN (SELECT value FROM json_each(CAST(:template_ids AS TEXT)))
    AND NOT EXISTS (
        SELECT 1 FROM receipt AS r WHERE r.tenant_id = :tenant_id AND r.template_id = prompt_template.template_id
    )

-- name: unused_templates
SELECT t.template_id FROM prompt_template AS t
WHERE t.tenant_id = :tenant_id AND NOT EXISTS (
    SELECT 1 FROM receipt AS r WHERE r.tenant_id = :tenant_id AND r.template_id = t.template_id
)
ORDER BY t.template_id

-- name: delete_templates_of_project
DELETE FROM prompt_template WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: erase_templates
DELETE FROM prompt_template WHERE tenant_id = :tenant_id
