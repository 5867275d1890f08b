"""Which of these authors? Models of authors, from their texts to probabilities."""
