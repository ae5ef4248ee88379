"""Test cases as people write them on a page: rows of plain words with inputs, and back to JSON."""
