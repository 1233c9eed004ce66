"""The one exception of the harness."""


class BenchmarkError(Exception):
    """Something broke: the run has no result. The message is shown to the user as it is."""
