-- The receipts of contexts and searches by age, for retention. A session may have many receipts of replies, which go with the replies.
CREATE INDEX receipt_by_age ON receipt (tenant_id, session_id, created_at) WHERE kind <> 'reply';
