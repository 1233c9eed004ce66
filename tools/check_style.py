#!/usr/bin/python3
"""Style as a test: what STYLE.md says a tool can see.

Fails on long lines, banned words, headers without banner, modules without README or test, Markdown
that nobody links or that links to nothing, and paths of somebody's machine. Lists, without failing,
long functions and files.
"""

import ast
import re
import sys

import source_tree

COLUMNS = 100
FUNCTION_LINES = 70
FILE_LINES = 500
README_LINES = range(10, 41)
MEASURED_SUFFIXES = {".h", ".cc", ".py", ".cmake", ".sh"}

# (path or its beginning, kind of finding as given to Style.find(), reason)
EXCEPTIONS = [
    ("tools/", "word", "these tools and their tests name the words they look for"),
    ("src/programs/", "module_test", "programs are wiring; tests/integration runs them"),
]


def _everywhere(path):
    return True


def _outside_core(path):
    return path.parts[0] == "src" and path.parts[1] != "core"


def _tests(path):
    return path.parts[0] == "tests" or path.stem.endswith("_test")


# (pattern in code, where it is banned, what to do instead)
BANNED_CPP = [
    (r"\bstd::(?:\w+_)?mutex\b", _outside_core,
     "std::mutex outside src/core: an object belongs to one shard; send it a message (rt::call)"),
    (r"\bsleep_for\b", _tests, "a test does not sleep: wait for the event, or advance the clock"),
    (r"\bstd::shuffle\b", _everywhere,
     "std::shuffle: its output differs between libraries; write the loop on io::Rng"),
    (r"\bstd::random_device\b", _everywhere, "std::random_device: take an io::Rng&"),
    (r"\bstd::uniform_\w+", _everywhere,
     "std::uniform_*: its output differs between libraries; use io::Rng::below"),
    (r"\bdefault_random_engine\b", _everywhere, "default_random_engine: take an io::Rng&"),
    (r"\busing\s+namespace\s+std\s*;", _everywhere, "using namespace std: name what you use"),
    (r"\bnamespace\s+(?:\w+::)*(?:utils?|common|helpers?|misc)\b", _everywhere,
     "a namespace says what is in it; utils, common and helpers do not"),
]
BANNED_PYTHON = [
    (r"\btime\.sleep\b", _tests, "a test does not sleep: wait for the event with a deadline"),
]
BANNED_TEXT = [
    (r"\bTODO\b(?!\(#\d+\))", "TODO without an issue: write TODO(#n) or do it"),
]
BANNED_FOLDERS = {"utils", "util", "common", "helpers", "helper", "misc"}

# Written in pieces, so that this file does not match itself.
_MACHINE_PATH = re.compile(
    "(?<![\\w.])/(?:" + "|".join(["ho" "me/\\w", "ro" "ot/", "wo" "rk/\\w", "Us" "ers/\\w",
                                  "work" "space/"]) + ")")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CONTAINER = re.compile(r"\b(?:namespace|class|struct|union|enum)\b|\bextern\s*\"")


class Style:
    def __init__(self, root):
        self.root = root
        self.paths = source_tree.files(root)
        self.report = source_tree.Report()
        self.notes = []

    def find(self, path, line, kind, message):
        for prefix, excepted, _ in EXCEPTIONS:
            if kind == excepted and path.as_posix().startswith(prefix):
                return
        self.report.add(path, line, message)

    def run(self):
        linked = set()
        for path in self.paths:
            if self.is_binary(path):
                continue
            text = source_tree.read(self.root, path)
            self.check_any(path, text)
            if path.suffix in source_tree.CPP_SUFFIXES:
                self.check_cpp(path, text)
            elif path.suffix == ".py":
                self.check_python(path, text)
            elif path.suffix == ".md":
                linked |= self.check_markdown(path, text)
        self.check_pages(linked)
        self.check_modules()

    def is_binary(self, path):
        with (self.root / path).open("rb") as file:
            return b"\0" in file.read(4096)

    def words(self, path, code, table):
        for pattern, where, message in table:
            if where(path):
                for match in re.finditer(pattern, code):
                    self.find(path, source_tree.line_of(code, match.start()), "word", message)

    def check_any(self, path, text):
        for folder in BANNED_FOLDERS & set(path.parts[:-1]):
            self.find(path, 1, "word", f"folder {folder}: a folder says what is in it")
        measured = path.suffix in MEASURED_SUFFIXES or path.name == "CMakeLists.txt"
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            if measured and len(line) > COLUMNS and "https://" not in line:
                self.find(path, number, "columns", f"{len(line)} columns; {COLUMNS} is the limit")
            if match := _MACHINE_PATH.search(line):
                self.find(path, number, "path", f"path of one machine ({match[0]}…)")
        for pattern, message in BANNED_TEXT:
            for match in re.finditer(pattern, text):
                self.find(path, source_tree.line_of(text, match.start()), "word", message)
        if measured and len(lines) > FILE_LINES:
            self.notes.append(f"{path}:1: {len(lines)} lines; files stay below {FILE_LINES}")

    def check_cpp(self, path, text):
        code = source_tree.code_only(text)
        self.words(path, code, BANNED_CPP)
        if path.suffix == ".h":
            before, pragma, _ = text.partition("#pragma once\n")
            if not pragma:
                self.find(path, 1, "banner", "no #pragma once")
            if not text.startswith("// ") or source_tree.without_comments(before).strip():
                self.find(path, 1, "banner",
                          "a header begins with a comment: what, why, thread rule, lifetime")
        for line, length in long_functions(code):
            self.notes.append(f"{path}:{line}: function of {length} lines; "
                              f"{FUNCTION_LINES} is plenty")

    def check_python(self, path, text):
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            self.find(path, error.lineno or 1, "syntax", f"not Python: {error.msg}")
            return
        self.words(path, text, BANNED_PYTHON)
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = node.end_lineno - node.lineno + 1
                if length > FUNCTION_LINES:
                    self.notes.append(f"{path}:{node.lineno}: function of {length} lines; "
                                      f"{FUNCTION_LINES} is plenty")

    def check_markdown(self, path, text):
        """Checks one page and returns the repository files it links to."""
        if not text.startswith("# "):
            self.find(path, 1, "title", "a page begins with its title: # Title")
        prose = _FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        prose = re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), prose)
        linked = set()
        for match in _LINK.finditer(prose):
            target = (match[1] or match[2]).split("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            absolute = (self.root / path.parent / target).resolve()
            if not absolute.exists():
                self.find(path, source_tree.line_of(prose, match.start()), "link",
                          f"links to {target}, which is not there")
            elif absolute.is_relative_to(self.root.resolve()):
                linked.add((path, absolute.relative_to(self.root.resolve())))
        return linked

    def check_pages(self, linked):
        targets = {target for source, target in linked if source != target}
        for path in self.paths:
            if path.parts[0] == "docs" and path.suffix == ".md" and path not in targets:
                self.find(path, 1, "linked", "no other page links here; index: docs/README.md")

    def check_modules(self):
        modules = {p.parents[len(p.parts) - 4] for p in self.paths
                   if p.parts[0] == "src" and len(p.parts) > 3
                   and p.suffix in source_tree.CPP_SUFFIXES}
        for module in sorted(modules):
            readme = self.root / module / "README.md"
            if not readme.exists():
                self.find(module, 1, "readme", "module without README.md")
            else:
                count = len(readme.read_text(encoding="utf-8").splitlines())
                if count not in README_LINES:
                    self.find(module / "README.md", 1, "readme",
                              f"{count} lines; a module's README has 10 to 40")
            inside = (p for p in self.paths if p.is_relative_to(module))
            if not any(p.name.endswith("_test.cc") for p in inside):
                self.find(module, 1, "module_test", "module without a unit test (x_test.cc)")


def long_functions(code):
    """(line, length) of C++ functions above FUNCTION_LINES: a heuristic on braces."""
    stack = []  # (kind, position): containers may hold functions, anything else may not
    for match in re.finditer(r"[{}]", code):
        position = match.start()
        if match[0] == "{":
            head_start = max(code.rfind(mark, 0, position) for mark in ";{}") + 1
            head = code[head_start:position]
            inside = all(kind == "container" for kind, _ in stack)
            if inside and "(" in head and not re.match(r"\s*(?:namespace|enum)\b", head):
                start = head_start + len(head) - len(head.lstrip())
                stack.append(("function", start))
            elif inside and _CONTAINER.search(head):
                stack.append(("container", position))
            else:
                stack.append(("block", position))
        elif stack:
            kind, start = stack.pop()
            length = code.count("\n", start, position) + 1
            if kind == "function" and length > FUNCTION_LINES:
                yield source_tree.line_of(code, start), length


def main(arguments=None):
    options = source_tree.parser(__doc__)
    options.add_argument("--list", action="store_true", help="also print long functions and files")
    args = options.parse_args(arguments)
    style = Style(args.root)
    style.run()
    if args.list:
        print("\n".join(style.notes), end="\n" if style.notes else "")
    elif style.notes:
        print(f"check_style: {len(style.notes)} long function(s) or file(s); --list names them")
    return style.report.finish("check_style")


if __name__ == "__main__":
    sys.exit(main())
