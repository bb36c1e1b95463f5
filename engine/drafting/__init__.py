"""Who drafts how many tokens next, learnt from what rounds take and how often drafts are right."""
