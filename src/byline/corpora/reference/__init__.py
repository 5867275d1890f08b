"""Reference populations: texts by other people, with which a question is compared."""
