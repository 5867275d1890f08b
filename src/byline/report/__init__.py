"""Results -> all that their reports show, in plain values: numbers, words, texts, never HTML."""
