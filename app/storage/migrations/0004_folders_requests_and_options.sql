-- Folders of chats; each stands in another one, or at the top.
CREATE TABLE folders (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL,
    parent_id   INTEGER,                     -- NULL: at the top
    opened      INTEGER NOT NULL DEFAULT 1,  -- 1: shows what is in it
    created_at  REAL    NOT NULL
);

ALTER TABLE chats ADD COLUMN folder_id INTEGER;                  -- NULL: in none
ALTER TABLE chats ADD COLUMN unseen INTEGER NOT NULL DEFAULT 0;  -- 1: a reply ended while another chat was open
ALTER TABLE chats ADD COLUMN options TEXT;                       -- JSON: what this chat asks for otherwise than the settings
ALTER TABLE chats ADD COLUMN place TEXT;                         -- JSON: where its reader was

ALTER TABLE messages ADD COLUMN attachments TEXT;                -- JSON: names, kinds and texts
ALTER TABLE messages ADD COLUMN drafting TEXT;                   -- JSON: which of its text was drafted, and what was overruled

ALTER TABLE unsent ADD COLUMN attachments TEXT;

-- A message that is being edited, or beside which one is being written, and the words so far.
CREATE TABLE edits (
    message_id  INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL,            -- "edit", "before", "after"
    role        TEXT    NOT NULL,            -- whose words they are to be
    text        TEXT    NOT NULL
);

CREATE INDEX chats_by_folder ON chats (folder_id) WHERE folder_id IS NOT NULL;

-- What each request did, for the table and the totals of Settings → Speculation. It holds no words of a chat, and so
-- stays when the chat goes.
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
