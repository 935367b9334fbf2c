-- What OpenAI's conversations have besides messages: tool calls, their outputs, reasoning; and what a message's item has besides its
-- text. Ordered by (message_id, position): position 0 is the message itself, other positions are items that follow this message.
-- `message_id` is the session's number shifted, plus 0, for items before its first message. The text of a message is in `message` alone,
-- so that forgetting and moving apply to it. Items that are not messages are shown in the pool they were made in only, because a model may
-- have put recalled text into them; `response_id` is the response that made the item, if one did.
CREATE TABLE session_item (
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    item_id BIGINT NOT NULL,
    response_id BIGINT,
    recalled_pool_id BIGINT NOT NULL,
    item TEXT NOT NULL,
    PRIMARY KEY (tenant_id, message_id, position),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id),
    CHECK (message_id >> 21 = session_id)
);

CREATE UNIQUE INDEX session_item_by_id ON session_item (tenant_id, item_id);
CREATE INDEX session_item_by_pool ON session_item (tenant_id, recalled_pool_id);

-- The responses of OpenAI's interface. `body` has no text of messages: `output` in it is a list of item ids. `question_id` is the message
-- that was answered; `owns_messages` is 1 if the caller named no conversation, so that deleting the response deletes what was said.
CREATE TABLE session_response (
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    response_id BIGINT NOT NULL,
    question_id BIGINT NOT NULL,
    reply_id BIGINT,
    owns_messages BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, response_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE INDEX session_response_by_session ON session_response (tenant_id, session_id);
