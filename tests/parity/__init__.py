"""Our drafters beside implementations that are not ours, installed for this alone: `make parity`."""
