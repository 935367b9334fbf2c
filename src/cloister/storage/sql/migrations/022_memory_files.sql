-- Small text files that an assistant stores with Anthropic's memory tool: a tree for each session, in each pool that the session is or was in. A
-- model may have put recalled text into a file, so a session that moves leaves its files in the pool they were stored in. `content` is null
-- for a directory; `size` is the number of bytes of the content.
CREATE TABLE memory_file (
    tenant_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    recalled_pool_id BIGINT NOT NULL,
    path TEXT NOT NULL,
    size BIGINT NOT NULL,
    content TEXT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, session_id, recalled_pool_id, path),
    FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, session_id)
);

CREATE INDEX memory_file_by_pool ON memory_file (tenant_id, recalled_pool_id);
