-- Why a reply ended is part of its status: a reply that met a limit is no longer "done" with a second column beside it.
UPDATE messages SET status = finish WHERE status = 'done' AND finish IN ('length', 'context', 'memory');
ALTER TABLE messages DROP COLUMN finish;
