"""The run list, for pages and API alike: its filters, its pages, its counts, and what is done to
many runs at once.
"""
