"""What callers and the engine exchange: values, events, errors, figures and the protocols they are written against."""
