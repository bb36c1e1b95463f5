"""Turn what people do into requests, and what the engine says into changes of the view models. No widgets."""
