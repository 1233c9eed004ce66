"""``python -m leat``: is everything there, and who answers."""

from __future__ import annotations

import platform
import sys

import leat
from leat import _native

_HELP = """\
usage: python -m leat [ENDPOINT]

Shows the versions of the package and its library, and asks the service for its buckets.
ENDPOINT: http://HOST:PORT; without it, what the environment says (eval "$(leat env DIR)").
The command line of Leat itself is `leat`: leat help."""


def main(arguments: list[str]) -> int:
    """0 if the service answered, 1 if not, 2 for arguments that are not understood."""
    if "-h" in arguments or "--help" in arguments:
        print(_HELP)
        return 0
    if len(arguments) > 1 or any(one.startswith("-") for one in arguments):
        print(_HELP, file=sys.stderr)
        return 2
    print(f"leat {leat.__version__}, Python {platform.python_version()}")
    try:
        print(f"libleat {_native.version()}, {_native.library_path()}")
        session = leat.connect(*arguments, retry_seconds=5)
        buckets = session.ls()
    except (leat.LeatError, ImportError) as error:
        print(f"no answer: {error}", file=sys.stderr)
        return 1
    print(f"the service answers: {len(buckets)} buckets {' '.join(buckets[:20])}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
