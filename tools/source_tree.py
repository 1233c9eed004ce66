"""What the check_*.py tools share: which files there are, C++ without comments, and the report."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

CPP_SUFFIXES = {".h", ".cc"}

# One token of C++ whose inside must not be mistaken for code. Numbers and names are matched too, so
# that the quote in 1'000 and the R of a name are not taken for the start of a literal.
_TOKEN = re.compile(
    r"""
    (?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
  | (?P<literal> (?:u8|[uUL])?R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"
               | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
               | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
  | \d(?:'?[\w.])* | [A-Za-z_]\w*
    """,
    re.VERBOSE | re.DOTALL,
)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The same text, same positions, with comments turned into blanks."""
    return _TOKEN.sub(lambda m: _blank(m[0]) if m["comment"] else m[0], text)


def code_only(text):
    """The same text, same positions, without comments and with empty string literals."""

    def replace(match):
        if match["comment"]:
            return _blank(match[0])
        if match["literal"]:
            return '"' + _blank(match[0][1:-1]) + '"'
        return match[0]

    return _TOKEN.sub(replace, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def files(root):
    """Relative paths of the repository's own files: tracked, or new and not ignored."""
    if (root / ".git").exists():
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, capture_output=True, text=True, check=True,
        ).stdout
        found = [Path(name) for name in listing.split("\0") if name]
        return sorted(path for path in found if (root / path).is_file())
    return sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="replace")


def parser(description):
    result = argparse.ArgumentParser(description=description)
    result.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parent.parent,
        help="the repository (default: the one this tool lives in)",
    )
    return result


class Report:
    """Collects findings as `file:line: message` and turns them into an exit code."""

    def __init__(self):
        self.findings = []

    def add(self, path, line, message):
        self.findings.append((str(path), line, message))

    def finish(self, name):
        for path, line, message in sorted(self.findings):
            print(f"{path}:{line}: {message}")
        if self.findings:
            print(f"{name}: {len(self.findings)} finding(s)", file=sys.stderr)
            return 1
        return 0
