#!/usr/bin/python3
"""Finds the coroutine shapes of docs/adr/0001-compilers-and-coroutine-rules.md that miscompile or
mislead: after co_await only names, moves and calls of them may stand.

A parenthesised aggregate, `co_await f(A(x))`, is not seen: it looks like a call.
"""

import re
import sys

import source_tree

_AWAIT = re.compile(r"\bco_await\b")
_LAMBDA = re.compile(r"\[[^\]]*[\w=][^\]]*\]\s*(?:\([^)]*\))?\s*(?:mutable|noexcept|->|\{)")
_BRACE = re.compile(r"[\w>(,]\s*\{")
_QUALIFIER = re.compile(r"\b(?:mutable|noexcept)\b")
_TWICE = "in a co_await expression is destroyed twice by g++ 12: name it, then move it in"
_CATCH = re.compile(r"\bcatch\s*\([^)]*\)\s*\{")


def enclosed(code, start, stop_at=""):
    """From `start` to the bracket that closes around it, or to one of `stop_at` before that."""
    depth = 0
    for position in range(start, len(code)):
        char = code[position]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                return code[start:position]
        elif char in stop_at and depth == 0:
            return code[start:position]
    return code[start:]


def awaited(code, start):
    """The expression after a co_await."""
    return enclosed(code, start, stop_at=";")


def statement(code, start):
    """The whole statement around a position, from the last `;`, `{` or `}` on."""
    begin = max(code.rfind(mark, 0, start) for mark in ";{}") + 1
    return code[begin:start] + awaited(code, start)


def catch_blocks(code):
    for match in _CATCH.finditer(code):
        yield match.end(), match.end() + len(enclosed(code, match.end()))


def check(path, text, report):
    code = source_tree.code_only(text)
    catches = list(catch_blocks(code))
    for match in _AWAIT.finditer(code):
        line = source_tree.line_of(code, match.start())
        expression = awaited(code, match.end())
        if _LAMBDA.search(expression):
            report.add(path, line, f"a capturing lambda {_TWICE}")
        elif _BRACE.search(_QUALIFIER.sub("", expression)):
            report.add(path, line, f"a braced temporary {_TWICE}")
        if _AWAIT.search(expression):
            report.add(path, line, "two co_awaits in one statement: give the first result a name")
        if "?" in statement(code, match.start()):
            report.add(path, line, "co_await beside ?: write an if")
        if any(begin <= match.start() < end for begin, end in catches):
            report.add(path, line, "co_await inside a catch block: leave the block first")


def main(arguments=None):
    args = source_tree.parser(__doc__).parse_args(arguments)
    report = source_tree.Report()
    for path in source_tree.files(args.root):
        if path.suffix in source_tree.CPP_SUFFIXES:
            check(path, source_tree.read(args.root, path), report)
    return report.finish("check_coro")


if __name__ == "__main__":
    sys.exit(main())
