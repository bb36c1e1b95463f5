"""Which proposer drafts how many tokens next, learnt from the seconds that rounds take and from accept rates."""
