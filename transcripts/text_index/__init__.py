"""Full-text search over masked transcripts: how text is taken apart, and what is kept of it."""
