"""Every write of what we think of runs, by subject."""
