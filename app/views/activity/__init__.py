"""What runs and what it gained: the window of requests and totals, and races."""
