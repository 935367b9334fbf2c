-- Whoever is about to put an entity into an index outside the database notes its removal for a little later, and strikes it out when
-- the entity is as it was put: so what is forgotten meanwhile, and what somebody was killed at, is taken out again.
ALTER TABLE index_removal ADD COLUMN due_at BIGINT NOT NULL DEFAULT 0;
