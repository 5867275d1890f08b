"""Files that are written whole or not at all, locks, signals and memory limits."""
