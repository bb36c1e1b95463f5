-- What is attached to a message that is being edited, or written beside another; NULL: what its message has.
ALTER TABLE edits ADD COLUMN attachments TEXT;
