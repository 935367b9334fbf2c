-- The texts of prompts that receipts of replies name by their hash (PRF-1), each once in a project, or in no project: so that the prompt of
-- an older reply can be shown after the project's prompt, or the session's own, was changed. A text goes with the last receipt that names it,
-- and with its project.
CREATE TABLE prompt_template (
    tenant_id BIGINT NOT NULL REFERENCES tenant (tenant_id),
    template_id BIGINT NOT NULL,
    project_id BIGINT,
    digest TEXT NOT NULL,
    template TEXT NOT NULL,
    PRIMARY KEY (tenant_id, template_id)
);

CREATE UNIQUE INDEX prompt_template_by_digest ON prompt_template (tenant_id, coalesce(project_id, 0), digest);
ALTER TABLE receipt ADD COLUMN template_id BIGINT;
CREATE INDEX receipt_by_template ON receipt (tenant_id, template_id) WHERE template_id IS NOT NULL;
