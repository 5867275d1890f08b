"""Engines: whatever can fill the matrix documents x heads, one file each."""
