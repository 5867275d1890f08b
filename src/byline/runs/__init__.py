"""Plans, run folders and the executor that trains the members of a run."""
