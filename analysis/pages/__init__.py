"""What the pages of runs are made of, worked out before any template is drawn."""
