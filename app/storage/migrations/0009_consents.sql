-- The user's consents to tools: never exported, and none goes with a copy of its chat.
CREATE TABLE consents (
    chat_id     INTEGER NOT NULL,            -- 0: in every chat
    server      TEXT    NOT NULL,            -- its id; '': built in
    tool        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,            -- what it is limited to, such as the host of an address; '': nothing
    digest      TEXT    NOT NULL,            -- of the tool as it was described
    seen        TEXT    NOT NULL,            -- that description
    created_at  REAL    NOT NULL,
    PRIMARY KEY (chat_id, server, tool, subject)
);
