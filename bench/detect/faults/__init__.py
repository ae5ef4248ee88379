"""The known ways to break a run, by subject. Importing a module registers its faults."""
