-- What a person chose for one conversation: pinned and archived ones are shown so, and recalled like all others; the system prompt and the
-- model replace those of the project.
ALTER TABLE session ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN system_prompt TEXT;
ALTER TABLE session ADD COLUMN model TEXT;
