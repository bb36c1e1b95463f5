"""Pictures in a chat: from pixels to rows of the main model's embedding, and into its forwards."""
