"""The limits that detectors go by: set by people, learned from runs, shown and tried on a page."""
