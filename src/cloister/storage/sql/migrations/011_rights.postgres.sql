
-- Every role that can connect may LISTEN and NOTIFY: what processes tell each other is sealed with this key, which only these roles read.
CREATE TABLE notification_key (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    secret BYTEA NOT NULL
);
INSERT INTO notification_key (only_row, secret)
VALUES (1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
GRANT SELECT ON notification_key TO cloister_tenant, cloister_maintenance;

-- The login may become the roles, and has none of their rights before it does. PostgreSQL 16 and newer can say so of a membership; in older
-- ones an administrator makes the login NOINHERIT. A membership that somebody else granted is theirs to change: `cloister doctor` says so.
DO $rights$
DECLARE
    role_name TEXT;
    inherits BOOLEAN;
BEGIN
    IF CAST(current_setting('server_version_num') AS INTEGER) < 160000 THEN
        RETURN;
    END IF;
    FOREACH role_name IN ARRAY ARRAY['cloister_tenant', 'cloister_maintenance'] LOOP
        SELECT coalesce(bool_or(inherit_option), false) INTO inherits FROM pg_auth_members
        WHERE roleid = to_regrole(role_name) AND member = to_regrole(quote_ident(current_user));
        IF inherits THEN
            BEGIN
                EXECUTE format('GRANT %I TO CURRENT_USER WITH INHERIT FALSE, SET TRUE', role_name);
            EXCEPTION
                -- Not ours to change, or another database of the server is changing it at this moment.
                WHEN insufficient_privilege OR internal_error THEN NULL;
            END;
        END IF;
    END LOOP;
END
$rights$;
