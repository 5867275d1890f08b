"""Reports: what they show as plain values, one module for each kind of result, and the HTML page that shows it."""
