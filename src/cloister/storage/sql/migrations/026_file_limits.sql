-- How many files of memory tools and how many entries a tenant may store, as the other limits: null is the server's.
ALTER TABLE tenant ADD COLUMN file_limit BIGINT;
ALTER TABLE tenant ADD COLUMN entry_limit BIGINT;
