"""The run page and the run list as a person meets them, and the run page of peers beside it."""
