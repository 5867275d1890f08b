"""From matrices to answers: score normalization, fusion, calibration, likelihood ratios, checks."""
