-- A prompt is text of users, and no query compares it.
ALTER TABLE session ALTER COLUMN system_prompt SET STATISTICS 0;
