"""What every benchmark shares: servers, load, rounds, medians and the report."""
