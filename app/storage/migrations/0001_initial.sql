CREATE TABLE chats (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    title       TEXT    NOT NULL DEFAULT '',
    renamed     INTEGER NOT NULL DEFAULT 0,  -- 1: the person chose the title, so the first message no longer does
    pinned      INTEGER NOT NULL DEFAULT 0,
    created_at  REAL    NOT NULL,            -- seconds since the epoch
    updated_at  REAL    NOT NULL,            -- when the last message came
    leaf_id     INTEGER,                     -- last message of the branch on screen
    deleted_at  REAL                         -- purged at the next start; until then it can be brought back
);

CREATE INDEX chats_by_day ON chats (pinned DESC, updated_at DESC) WHERE deleted_at IS NULL;

-- Messages of a chat are a tree: versions of one turn have the same parent.
CREATE TABLE messages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_id     INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent_id   INTEGER REFERENCES messages (id) ON DELETE CASCADE,
    role        TEXT    NOT NULL,
    text        TEXT    NOT NULL DEFAULT '',
    thinking    TEXT    NOT NULL DEFAULT '',
    thinking_s  REAL    NOT NULL DEFAULT 0,
    status      TEXT    NOT NULL DEFAULT 'done',
    finish      TEXT,                        -- why the reply ended
    main_name   TEXT    NOT NULL DEFAULT '',
    draft_name  TEXT    NOT NULL DEFAULT '',
    stats       TEXT,                        -- JSON, see codec.py
    error       TEXT,                        -- JSON, see codec.py
    created_at  REAL    NOT NULL,
    deleted_at  REAL
);

CREATE INDEX messages_by_parent ON messages (chat_id, parent_id);
CREATE INDEX messages_by_own_parent ON messages (parent_id);
CREATE INDEX messages_streaming ON messages (id) WHERE status = 'streaming';
