"""One reply, token by token: the round, the acceptance rules, sampling, the tokens with their cache, the text."""
