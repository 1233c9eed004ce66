#!/usr/bin/python3
"""Tooth 3 of src/README.md: every #include agrees with the DEPS that leat_module() was told.

Reads module_deps.txt, which CMake writes into the build folder, and all of src/. Fails on an
include of an undeclared module, a dependency that does not point downwards, a cycle, a source file
that no CMakeLists.txt lists, and a third-party header outside the module that wraps it.
"""

import re
import sys
from pathlib import Path

import source_tree

# What each layer may depend on, besides modules of its own. Programs wire everything together.
_LOW = {"core", "format"}
_SHARED = _LOW | {"policy", "net"}
LAYERS = {
    "core": set(),
    "format": {"core"},
    "policy": _LOW,
    "net": _LOW,
    "engine": _SHARED,
    "client": _SHARED,
    "cluster": _SHARED | {"engine"},
    "mount": _SHARED | {"client"},
    "service": _SHARED | {"engine", "cluster"},
    "frontend": _SHARED | {"engine", "cluster", "service"},
    "programs": _SHARED | {"engine", "client", "cluster", "mount", "service", "frontend"},
}

# Third-party headers and the modules that may include them: each library is wrapped once.
WRAPPED = {
    "boost/": {"rt", "io"},
    "liburing": {"io"},
    "isa-l/": {"hash"},
    "openssl/": {"hash", "tls"},
    "openssl/ssl": {"tls"},  # libssl; libcrypto's digests are what core/hash wraps
    "pugixml": {"xml"},
    "rocksdb/": {"kv"},
    "sqlite3": {"control"},
    "toml++/": {"config"},
    "CLI/": {"leat"},
    "jpeglib": {"decode"},
    "jerror": {"decode"},
    "png.h": {"decode"},
    "webp/": {"decode"},
}

# The pure layers: bytes in, bytes out; facts in, decisions out.
PURE = {"format", "policy"}
PURE_FORBIDDEN_INCLUDES = (
    "boost/", "rt/", "io/", "random", "thread", "fstream", "filesystem", "ctime", "time.h",
    "unistd.h", "fcntl.h", "sys/",
)
PURE_FORBIDDEN_CODE = re.compile(r"\b(?:system|steady|high_resolution|utc|file)_clock\b")

_LAYER_LIST = "LAYERS in tools/check_layers.py has the list"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def read_record(text, record, report):
    """{module: (layer, [dependency, …])} from lines such as `core/rt: leat::base;leat::log`."""
    modules = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, _, deps = line.partition(":")
        if not line.strip():
            continue
        layer, _, module = name.strip().partition("/")
        if layer not in LAYERS:
            report.add(record, number, f"unknown layer {layer}; {_LAYER_LIST}")
            continue
        if module in modules:
            report.add(record, number, f"module {module} stands twice; module names are unique")
        names = [d.strip().removeprefix("leat::") for d in re.split(r"[;\s]+", deps) if d.strip()]
        modules[module] = (layer, names)
    return modules


def check_graph(modules, report):
    for module, (layer, deps) in modules.items():
        where = f"src/{layer}/CMakeLists.txt"
        for dep in deps:
            if dep not in modules:
                report.add(where, 1, f"{module} depends on {dep}, which is not a module")
                continue
            below = modules[dep][0]
            if below != layer and below not in LAYERS[layer]:
                report.add(where, 1, f"{module} depends on {below}/{dep}: "
                                     f"layer {layer} may not use layer {below}")
    done, path = set(), []

    def visit(module):
        if module in path:
            layer = modules[module][0]
            circle = " -> ".join([*path[path.index(module):], module])
            report.add(f"src/{layer}/CMakeLists.txt", 1, f"cycle of modules: {circle}")
            return
        if module in done or module not in modules:
            return
        path.append(module)
        for dep in modules[module][1]:
            visit(dep)
        path.pop()
        done.add(module)

    for module in modules:
        visit(module)


def check_module_include(path, line, target, modules, report):
    layer, module = path.parts[1:3]
    other = target.split("/")[0]
    if other not in modules or other == module:
        return
    declared = modules.get(module, (layer, None))[1]
    if declared is None:
        return  # a program or an undeclared folder, which check_listed() reports
    if other in declared:
        return
    other_layer = modules[other][0]
    if path.stem.endswith("_test") and (other_layer == layer or other_layer in LAYERS[layer]):
        return  # tests may use fakes of the same or a lower layer; the linker checks them
    report.add(path, line, f'includes "{target}", but {module} does not declare leat::{other} '
                           f"(DEPS in src/{layer}/CMakeLists.txt)")


def check_file(root, path, modules, report):
    text = source_tree.read(root, path)
    code = source_tree.without_comments(text)
    layer, module = path.parts[1:3]
    for match in _INCLUDE.finditer(code):
        target = match[1] or match[2]
        line = source_tree.line_of(code, match.start())
        if match[1]:
            check_module_include(path, line, target, modules, report)
        for prefix, wrappers in WRAPPED.items():
            if target.startswith(prefix) and module not in wrappers:
                names = " and ".join(sorted(wrappers))
                report.add(path, line, f"includes <{target}>, which only {names} may; "
                                       "use that module's interface")
        if layer in PURE and target.startswith(PURE_FORBIDDEN_INCLUDES):
            report.add(path, line, f"includes {target}, but layer {layer} is pure: "
                                   "no I/O, clock or randomness; take them as arguments")
    if layer in PURE:
        stripped = source_tree.code_only(text)
        for match in PURE_FORBIDDEN_CODE.finditer(stripped):
            report.add(path, source_tree.line_of(stripped, match.start()),
                       f"uses {match[0]}, but layer {layer} is pure: take the time as an argument")


def lists(root, folder, path):
    """Whether the CMakeLists.txt of `folder` names the file."""
    listing = root / folder / "CMakeLists.txt"
    if not listing.exists():
        return False
    name = re.escape(path.relative_to(folder).as_posix())
    return re.search(rf"(?<![\w./-]){name}(?![\w./-])", listing.read_text(encoding="utf-8"))


def check_listed(root, sources, modules, report):
    for path in sources:
        layer, module = path.parts[1:3]
        if layer not in LAYERS:
            report.add(path, 1, f"src/{layer} is no layer; {_LAYER_LIST}")
            continue
        if layer != "programs" and modules.get(module, ("",))[0] != layer:
            report.add(path, 1, f"folder {layer}/{module} is no module: "
                                f"add leat_module({module} …) to src/{layer}/CMakeLists.txt")
            continue
        if path.suffix != ".cc":
            continue
        if not any(lists(root, folder, path) for folder in list(path.parents)[:-2]):
            inner = path.relative_to(Path("src") / layer).as_posix()
            report.add(path, 1, f"nothing builds it: add {inner} to src/{layer}/CMakeLists.txt")


def find_record(root):
    records = sorted((root / "build").glob("*/module_deps.txt"), key=lambda p: p.stat().st_mtime)
    return records[-1] if records else None


def main(arguments=None):
    options = source_tree.parser(__doc__)
    options.add_argument("--record", type=Path,
                         help="module_deps.txt (default: the newest of build/*/module_deps.txt)")
    args = options.parse_args(arguments)
    record = args.record or find_record(args.root)
    if record is None or not record.exists():
        print("check_layers: no module_deps.txt; run cmake --preset dev first", file=sys.stderr)
        return 1
    report = source_tree.Report()
    modules = read_record(record.read_text(encoding="utf-8"), record.name, report)
    check_graph(modules, report)
    sources = [p for p in source_tree.files(args.root)
               if p.suffix in source_tree.CPP_SUFFIXES and p.parts[0] == "src" and len(p.parts) > 3]
    for path in sources:
        check_file(args.root, path, modules, report)
    check_listed(args.root, sources, modules, report)
    return report.finish("check_layers")


if __name__ == "__main__":
    sys.exit(main())
