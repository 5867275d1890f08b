"""The library's verbs, one module each: verify, attribute, cluster, roll, generate, calibrate, evaluate, prepare."""
