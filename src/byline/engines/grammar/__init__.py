"""A grammar model of each head: probabilities of function words and punctuation in their sentences."""
