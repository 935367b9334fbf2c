-- The process that answers the turn, if it is one whose end is noticed: the turn of one that has ended can be taken away at once.
ALTER TABLE session ADD COLUMN turn_process BIGINT;
