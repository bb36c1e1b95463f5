"""Widgets. They show view models and emit requests; they import neither `engine` nor `app.storage`."""
