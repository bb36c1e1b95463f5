"""Controllers: they turn actions of the person into engine requests, and engine events into view models. No widgets."""
