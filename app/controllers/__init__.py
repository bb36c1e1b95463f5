"""Controllers: they turn the user's actions into engine requests, and engine events into view models. No widgets."""
