"""Models of known authors: training, enrollment, scores of texts, and evidence for one author against the others."""
