"""Every read of what happened, for pages, API and analysis alike."""
