-- What was deleted is found without reading everything, and a chat's tree is read from this index alone.
CREATE INDEX chats_deleted ON chats (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX messages_deleted ON messages (deleted_at) WHERE deleted_at IS NOT NULL;
DROP INDEX messages_by_parent;
CREATE INDEX messages_by_parent ON messages (chat_id, parent_id, deleted_at);

-- What was typed and not sent; chat 0 is the chat that has no message yet.
CREATE TABLE unsent (
    chat_id     INTEGER PRIMARY KEY,
    text        TEXT    NOT NULL
);

-- What the app has to remember about this file, such as a rescue that nobody has been told of.
CREATE TABLE notes (
    name        TEXT    PRIMARY KEY,
    value       TEXT    NOT NULL
);
