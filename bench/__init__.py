"""Measurements: each module prints figures for one part of the product. Run by `./desk bench`."""
