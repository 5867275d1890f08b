"""Character n-gram models interpolated with a shared background."""
