-- Of a reply: the first message of its prompt, apart from pinned ones before it; NULL: the branch's first.
ALTER TABLE messages ADD COLUMN reads_from INTEGER;

-- 1: it stays in the prompt when older messages are left out.
ALTER TABLE messages ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;

CREATE INDEX messages_pinned ON messages (chat_id) WHERE pinned;
