"""A local web page: it compares texts on this machine, and nothing leaves it."""
