"""TF-IDF profiles of character n-grams, compared by cosine (the engine called `vectors` in settings)."""
