-- The first chats of a folder, or of none, are listed without reading the others.
CREATE INDEX chats_in_order ON chats (folder_id, pinned DESC, updated_at DESC, id DESC) WHERE deleted_at IS NULL;
