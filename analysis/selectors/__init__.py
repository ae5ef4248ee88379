"""Reads of what we think of runs, by subject."""
