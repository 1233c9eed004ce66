"""One module a benchmark. Its first docstring line is its entry in `benchmarks/run --list`."""
