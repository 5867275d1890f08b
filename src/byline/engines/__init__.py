"""Engines fill the matrix of documents x heads; each engine is a module or package of its name."""
