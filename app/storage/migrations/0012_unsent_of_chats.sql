-- What waits in a chat that is not there will be sent in a new one: nothing of deleted chats may be among it.
DELETE FROM unsent WHERE chat_id NOT IN (0, 1073741824) AND chat_id NOT IN (SELECT id FROM chats);
