-- The categories of a message, as a JSON list of texts (MEM-14).
ALTER TABLE message ADD COLUMN categories TEXT NOT NULL DEFAULT '[]';
