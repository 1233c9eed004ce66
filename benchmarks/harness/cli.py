"""The command line of `benchmarks/run`: finds the suite, builds, runs it, prints its report."""

import argparse
import importlib
import os
import pkgutil
import resource
import signal
import sys
import tempfile
from pathlib import Path

import suites
from harness import build, files, machine
from harness.awake import AwakeCores
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Report


def suite_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(suites.__path__))


def suite_line(name: str) -> str:
    return (importlib.import_module(f"suites.{name}").__doc__ or "").strip().splitlines()[0]


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run", description="Measures Leat beside its peers."
    )
    parser.add_argument("name", nargs="?", help="the benchmark to run")
    parser.add_argument("--list", action="store_true", help="name all benchmarks")
    parser.add_argument("--quick", action="store_true", help="end within 60 seconds")
    parser.add_argument("--json", action="store_true", help="print the result alone, as JSON")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the table there, too, as Markdown"
    )
    parser.add_argument(
        "--seconds", type=float, help="length of one measurement, where time bounds it"
    )
    parser.add_argument("--rounds", type=int, help="measurements of each leg; medians are reported")
    parser.add_argument("--cells", help="measure only the cells whose name contains this text")
    parser.add_argument("--dir", type=Path, help="where test files go (default: build/benchmarks)")
    parser.add_argument("--no-build", action="store_true", help="use the binaries that are there")
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="nginx on both sides: the ratios show how far noise alone reaches",
    )
    parsed = parser.parse_args(arguments)
    if not parsed.list and parsed.name is None:
        parser.error("name a benchmark, or ask for --list")
    if parsed.name is not None and parsed.name not in suite_names():
        parser.error(
            f"no benchmark is called '{parsed.name}'; there are: {', '.join(suite_names())}"
        )
    if parsed.rounds is not None and parsed.rounds < 1:
        parser.error("--rounds must be at least 1")
    if parsed.seconds is not None and parsed.seconds <= 0:
        parser.error("--seconds must be above 0")
    return parsed


def targets(arguments: argparse.Namespace) -> list[str]:
    """What the suite needs; one that says nothing needs a server and its client."""
    if arguments.self_test:
        return ["http_load"]
    suite = importlib.import_module(f"suites.{arguments.name}")
    return getattr(suite, "TARGETS", ["http_load", "leat"])


def raise_descriptor_limit() -> None:
    """Servers inherit the limit; ten thousand connections need more than the usual 1024."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def run_suite(arguments: argparse.Namespace) -> Report:
    parent = arguments.dir or build.ROOT / "build" / "benchmarks"
    parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{arguments.name}-", dir=parent))
    cores = machine.choose_cores()
    os.sched_setaffinity(0, {cores.client})
    try:
        with AwakeCores(cores) as awake:
            context = Context(
                work=work,
                cores=cores,
                awake=awake,
                quick=arguments.quick,
                quiet=arguments.json,
                self_test=arguments.self_test,
                seconds=arguments.seconds,
                rounds=arguments.rounds,
                cells=arguments.cells,
            )
            return importlib.import_module(f"suites.{arguments.name}").run(context)
    finally:
        files.remove_tree(work)


def main(arguments: list[str] | None = None) -> int:
    parsed = parse_arguments(arguments)
    if parsed.list:
        width = max(len(name) for name in suite_names())
        for name in suite_names():
            print(f"{name:{width}}  {suite_line(name)}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    raise_descriptor_limit()
    try:
        if not parsed.no_build:
            build.build(targets(parsed), parsed.json)
        report = run_suite(parsed)
    except BenchmarkError as error:
        print(f"benchmarks/run: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    if parsed.markdown is not None:
        parsed.markdown.write_text(report.markdown() + "\n")
    print(report.json() if parsed.json else report.text())
    return 0
