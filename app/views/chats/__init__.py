"""The list of chats in the sidebar, and the Trash."""
