-- The last message that a title was made of, if a model made the title; NULL if a person gave it. The title is removed with any message
-- up to that one.
ALTER TABLE session ADD COLUMN title_through BIGINT;
