-- A folder is a project: what its chats are told first, and options that they begin with.
ALTER TABLE folders ADD COLUMN instructions TEXT NOT NULL DEFAULT '';
ALTER TABLE folders ADD COLUMN options TEXT;                         -- JSON, as of a chat
