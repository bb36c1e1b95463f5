"""View models: data and change signals for the views. No widgets, no engine calls, no SQL, no translated text."""
