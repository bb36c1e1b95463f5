-- Messages whose words changed after they were first written, and how often: the search index reads them once more.
CREATE TABLE rewritten (
    message_id  INTEGER PRIMARY KEY,
    times       INTEGER NOT NULL
);

CREATE TRIGGER messages_rewritten AFTER UPDATE OF text ON messages WHEN NEW.text IS NOT OLD.text BEGIN
    INSERT INTO rewritten VALUES (NEW.id, 1) ON CONFLICT (message_id) DO UPDATE SET times = times + 1;
END;

-- A closed folder shows that something in it has not been seen.
CREATE INDEX chats_unseen ON chats (folder_id) WHERE unseen = 1;
