CREATE TABLE chats (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    title       TEXT    NOT NULL DEFAULT '',
    renamed     INTEGER NOT NULL DEFAULT 0,  -- 1: the user chose the title, 2: a model did
    pinned      INTEGER NOT NULL DEFAULT 0,
    created_at  REAL    NOT NULL,            -- seconds since the epoch
    updated_at  REAL    NOT NULL,            -- when the last message came
    leaf_id     INTEGER,                     -- last message of the branch on screen
    deleted_at  REAL,                        -- in the Trash since then
    folder_id   INTEGER,                     -- NULL: in none
    unseen      INTEGER NOT NULL DEFAULT 0,  -- 1: a reply ended while another chat was open
    options     TEXT,                        -- JSON: what this chat asks for otherwise than the settings
    place       TEXT                         -- JSON: where its reader was
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
    main_name   TEXT    NOT NULL DEFAULT '',
    draft_name  TEXT    NOT NULL DEFAULT '',
    stats       TEXT,                        -- JSON, see codec.py
    error       TEXT,                        -- JSON, see codec.py
    created_at  REAL    NOT NULL,
    deleted_at  REAL,
    parts       TEXT,                        -- JSON: all that comes before its last thinking and text, see parts.py
    drafting    TEXT,                        -- JSON: which of its text was drafted, and what was overruled
    reads_from  INTEGER,                     -- of a reply: the first message of its prompt; NULL: the branch's first
    pinned      INTEGER NOT NULL DEFAULT 0   -- 1: it stays in the prompt when older messages are left out
);

CREATE INDEX messages_by_own_parent ON messages (parent_id);
CREATE INDEX messages_streaming ON messages (id) WHERE status = 'streaming';
-- What was deleted is found without reading everything, and a chat's tree is read from an index alone.
CREATE INDEX chats_deleted ON chats (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX messages_deleted ON messages (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX messages_by_parent ON messages (chat_id, parent_id, deleted_at);
CREATE INDEX messages_pinned ON messages (chat_id) WHERE pinned;

-- What was typed and not sent.
CREATE TABLE unsent (
    chat_id     INTEGER PRIMARY KEY,
    text        TEXT    NOT NULL,
    attachments TEXT
);

-- What the app has to remember about this file, such as a rescue that no notice has shown.
CREATE TABLE notes (
    name        TEXT    PRIMARY KEY,
    value       TEXT    NOT NULL
);

-- A folder is a project: what its chats begin with.
CREATE TABLE folders (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT    NOT NULL,
    parent_id    INTEGER,                    -- NULL: at the top
    opened       INTEGER NOT NULL DEFAULT 1, -- 1: shows what is in it
    created_at   REAL    NOT NULL,
    instructions TEXT    NOT NULL DEFAULT '',
    options      TEXT                        -- JSON, as of a chat
);

-- A message that is being edited, or beside which one is being written, and the words so far.
CREATE TABLE edits (
    message_id  INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL,            -- "edit", "before", "after"
    role        TEXT    NOT NULL,            -- whose words they are to be
    text        TEXT    NOT NULL,
    attachments TEXT                         -- NULL: what its message has
);

CREATE INDEX chats_by_folder ON chats (folder_id) WHERE folder_id IS NOT NULL;

-- What each request did, for the table and the totals of Activity. It holds no words of a chat, and so stays when the
-- chat is deleted.
CREATE TABLE requests (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_id         INTEGER,
    message_id      INTEGER,
    main_name       TEXT    NOT NULL,
    draft_name      TEXT    NOT NULL DEFAULT '',
    status          TEXT    NOT NULL,
    language        TEXT    NOT NULL DEFAULT '',  -- of most of the text: "en", "ko", "ja", "zh"
    content         TEXT    NOT NULL DEFAULT '',  -- "prose", "code", "list"
    stats           TEXT    NOT NULL,             -- JSON, see codec.py
    created_at      REAL    NOT NULL
);

CREATE INDEX requests_by_time ON requests (created_at);
CREATE INDEX requests_by_message ON requests (message_id);

-- Messages whose words changed after they were first written, and how often: the search index reads them once more.
CREATE TABLE rewritten (
    message_id  INTEGER PRIMARY KEY,
    times       INTEGER NOT NULL
);

-- A closed folder shows that something in it has not been seen.
CREATE INDEX chats_unseen ON chats (folder_id) WHERE unseen = 1;
-- The first chats of a folder, or of none, are listed without reading the others.
CREATE INDEX chats_in_order ON chats (folder_id, pinned DESC, updated_at DESC, id DESC) WHERE deleted_at IS NULL;

CREATE TRIGGER messages_rewritten AFTER UPDATE OF text, parts ON messages
WHEN NEW.text IS NOT OLD.text OR NEW.parts IS NOT OLD.parts BEGIN
    INSERT INTO rewritten VALUES (NEW.id, 1) ON CONFLICT (message_id) DO UPDATE SET times = times + 1;
END;

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
