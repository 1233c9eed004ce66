"""The golden requests of tests/golden/sigv4 are what the installed botocore signs."""

import subprocess
import sys
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "sigv4"


def test_botocore_signs_the_golden_requests_the_same_again():
    written = subprocess.run([sys.executable, str(GOLDEN / "make_requests.py")], check=True,
                             capture_output=True, timeout=60).stdout
    assert written == (GOLDEN / "requests.jsonl").read_bytes()
