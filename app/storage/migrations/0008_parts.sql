-- Files are parts of a message as calls of tools and their results are: one list has all that comes before its words.
ALTER TABLE messages RENAME COLUMN attachments TO parts;

DROP TRIGGER messages_rewritten;

CREATE TRIGGER messages_rewritten AFTER UPDATE OF text, parts ON messages
WHEN NEW.text IS NOT OLD.text OR NEW.parts IS NOT OLD.parts BEGIN
    INSERT INTO rewritten VALUES (NEW.id, 1) ON CONFLICT (message_id) DO UPDATE SET times = times + 1;
END;
