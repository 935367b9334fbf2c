-- After how many days receipts are deleted, of all projects and of sessions in none; NULL leaves it to the projects. The stricter of the
-- tenant's and the project's applies.
ALTER TABLE tenant ADD COLUMN receipt_days BIGINT CHECK (receipt_days > 0);
