"""The activity window (requests and totals), and races."""
