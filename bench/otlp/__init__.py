"""How fast spans come in, beside the products that can be installed from the package index."""
