"""Input and output files: documents in any format, problems, author folders, references, truth and answers."""
