"""Reports: what was found as one HTML file that opens anywhere, without a network."""
