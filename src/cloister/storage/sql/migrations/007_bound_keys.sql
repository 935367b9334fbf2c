-- A key may be bound to one user: then it reaches that user's sessions only. None: those of all users.
ALTER TABLE api_key ADD COLUMN user_id TEXT CHECK (user_id <> '');
