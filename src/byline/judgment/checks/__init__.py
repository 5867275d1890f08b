"""Reasons not to trust an answer, whatever it is: found before training, stored with a run, no effect on answers."""
