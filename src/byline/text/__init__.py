"""Strings: languages, normalization, masking, alphabets, alignment with the original, shared passages."""
