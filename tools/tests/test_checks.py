"""Proves that each check bites on a small bad tree and is silent on a good one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import check_coro  # noqa: E402
import check_layers  # noqa: E402
import check_seams  # noqa: E402
import check_style  # noqa: E402
import source_tree  # noqa: E402

README = "# module\n" + "A line of text.\n" * 12


@pytest.fixture
def tree(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def run(capsys):
    def call(tool, root, *options):
        code = tool.main(["--root", str(root), *options])
        return code, capsys.readouterr().out

    return call


def test_code_only_blanks_comments_and_literals_and_keeps_positions():
    text = ("int a = 1'000; // std::mutex\n"
            "auto s = R\"x(co_await \")x\"; /* a\nb */ char c = '\"';\n")
    code = source_tree.code_only(text)
    assert len(code) == len(text) and code.count("\n") == text.count("\n")
    assert "mutex" not in code and "co_await" not in code
    assert "1'000" in code and code.rstrip().endswith(";")


# ---- layers

RECORD = "build/dev/module_deps.txt"
GOOD_LAYERS = {
    RECORD:
        "core/base: \ncore/rt: leat::base\nnet/http1: leat::base;leat::rt\n"
        "service/folder: leat::base\n",
    "src/core/CMakeLists.txt": "leat_module(base SRCS base/a.cc)\nleat_module(rt SRCS rt/b.cc)\n",
    "src/core/base/a.cc": '#include "base/a.h"\n',
    "src/core/base/a.h": "// A.\n#pragma once\n",
    "src/core/rt/b.cc": '#include <boost/asio/post.hpp>\n#include "base/a.h"\n',
    "src/net/CMakeLists.txt": "leat_module(http1 SRCS http1/parser.cc http1/parser_test.cc)\n",
    "src/net/http1/parser.cc": '#include "base/a.h"\n#include "rt/b.h"\n// #include "folder/x.h"\n',
    "src/net/http1/parser_test.cc": '#include "http1/parser.h"\n',
}


def test_layers_pass_a_tree_that_declares_what_it_includes(tree, run):
    assert run(check_layers, tree(GOOD_LAYERS)) == (0, "")


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"src/core/base/a.cc": '#include "rt/b.h"\n'}, "base does not declare leat::rt"),
        ({"src/net/http1/parser.cc": '#include "folder/x.h"\n'}, "does not declare leat::folder"),
        ({"src/net/http1/parser_test.cc": '#include "folder/x.h"\n'}, "declare leat::folder"),
        ({"src/net/http1/parser.cc": "#include <boost/asio/post.hpp>\n"}, "only io and rt may"),
        ({"src/net/http1/parser.cc": "#include <openssl/ssl.h>\n"}, "only tls may"),
        ({"src/net/http1/parser.cc": "#include <openssl/evp.h>\n"}, "only hash and tls may"),
        ({"src/net/http1/lost.cc": ""}, "add http1/lost.cc to src/net/CMakeLists.txt"),
        ({"src/net/pool/pool.h": ""}, "folder net/pool is no module"),
        ({"src/extras/pool/pool.h": ""}, "src/extras is no layer"),
        ({RECORD: "core/base: leat::rt\ncore/rt: leat::base\n"}, "cycle of modules: base -> rt"),
        ({RECORD: "core/rt: leat::h\nnet/h: \n"}, "layer core may not use layer net"),
        ({RECORD: "net/h: leat::p\npolicy/p: \n"}, "layer net may not use layer policy"),
        ({RECORD: "client/s: leat::e\nengine/e: \n"}, "layer client may not use layer engine"),
        ({RECORD: "service/s: leat::c\nclient/c: \n"}, "layer service may not use layer client"),
        ({RECORD: "core/a: leat::gone\n"}, "which is not a module"),
        ({RECORD: "core/a: \nnet/a: \n"}, "stands twice"),
        ({RECORD: "attic/a: \n"}, "unknown layer attic"),
    ],
)
def test_layers_bite(tree, run, change, expected):
    code, out = run(check_layers, tree({**GOOD_LAYERS, **change}))
    assert code == 1 and expected in out


@pytest.mark.parametrize(
    "text", ["#include <random>\n", '#include "io/clock.h"\n', "#include <boost/asio/post.hpp>\n",
             "auto n = std::chrono::steady_clock::now();\n"])
def test_pure_layers_know_no_clock_no_io_and_no_randomness(tree, run, text):
    root = tree({RECORD: "policy/placement: \n",
                 "src/policy/CMakeLists.txt": "leat_module(placement SRCS placement/p.cc)\n",
                 "src/policy/placement/p.cc": text})
    code, out = run(check_layers, root)
    assert code == 1 and "layer policy is pure" in out


def test_a_program_may_list_its_files_in_its_own_folder(tree, run):
    root = tree({**GOOD_LAYERS, "src/programs/leat/main.cc": '#include "folder/x.h"\n',
                 "src/programs/leat/CMakeLists.txt": "add_executable(leat main.cc)\n"})
    assert run(check_layers, root) == (0, "")
    code, out = run(check_layers, tree({"src/programs/leat/serve.cc": ""}))
    assert code == 1 and "leat/serve.cc" in out


def test_layers_fail_without_a_record(tree, run):
    assert run(check_layers, tree({"src/core/base/a.h": ""}))[0] == 1


def test_a_dependency_of_a_dependency_must_be_declared_too(tree, run):
    record = "core/base: \ncore/rt: leat::base\nnet/http1: leat::rt\n"
    root = tree({**GOOD_LAYERS, RECORD: record})
    code, out = run(check_layers, root)
    assert code == 1 and "src/net/http1/parser.cc:1:" in out and "leat::base" in out


# ---- coroutines

@pytest.mark.parametrize(
    "line, expected",
    [
        ("co_await store.put(key, PutOptions{.etag = etag});", "braced temporary"),
        ("co_await store.put(key, {1, 2});", "braced temporary"),
        ("LEAT_CO_TRY(auto v, co_await put(Key{name}));", "braced temporary"),
        ("co_await run([x] { return x; });", "capturing lambda"),
        ("co_await run([=](int n) mutable { return n; });", "capturing lambda"),
        ("co_await run([this]() -> int { return 1; });", "capturing lambda"),
        ("auto sum = co_await f() + co_await g();", "two co_awaits"),
        ("auto v = flag ? co_await f() : 0;", "write an if"),
        ("auto v = co_await ready() ? 1 : 0;", "write an if"),
        ("try { f(); } catch (const E& e) { log(e); co_await g(); }", "catch block"),
    ],
)
def test_coro_bites(tree, run, line, expected):
    code, out = run(check_coro, tree({"src/a.cc": f"Task<void> t() {{\n  {line}\n}}\n"}))
    assert code == 1 and expected in out and "src/a.cc:2:" in out


@pytest.mark.parametrize(
    "line",
    [
        "co_await store.put(key, std::move(options));",
        "LEAT_CO_TRY(auto v, co_await store.put(key, std::move(body)));",
        "co_return co_await std::move(task);",
        "while (co_await more()) { use(Pair{1, 2}); }",
        "if (auto r = co_await next(); !r) { list = {1, 2}; }",
        "LEAT_CO_TRY(auto n, co_await suspend<int>([&](auto resume) { w = std::move(resume); }));",
        "// co_await f(A{1});",
        'log("co_await f(A{1})");',
        "try { f(); } catch (const E& e) { log(e); } co_await g();",
    ],
)
def test_coro_lets_named_values_pass(tree, run, line):
    assert run(check_coro, tree({"src/a.cc": f"Task<void> t() {{\n  {line}\n}}\n"})) == (0, "")


# ---- seams

@pytest.mark.parametrize(
    "line",
    [
        "auto n = std::chrono::steady_clock::now();", "::clock_gettime(id, &t);",
        "auto n = time(nullptr);", "gettimeofday(&t, nullptr);", "usleep(3);",
        "getrandom(p, 8, 0);", "int r = rand();", "std::random_device d;", "std::thread t;",
        "std::this_thread::yield();", "int s = ::socket(1, 2, 3);", "::bind(s, a, n);",
        "int fd = ::open(p, 0);", "if (::read(fd, p, n) < 0) return;", "fopen(p, q);",
        "std::ifstream in;", "std::filesystem::path p;", "::rename(a, b);", "::unlink(a);",
        "fsync(fd);", "std::getenv(n);", "char** e = environ;", "getaddrinfo(h, s, a, r);",
        "io_uring_submit(ring);",
    ],
)
def test_seams_bite_outside_core(tree, run, line):
    code, out = run(check_seams, tree({"src/net/http1/a.cc": f"\n{line}\n"}))
    assert code == 1 and "src/net/http1/a.cc:2:" in out


@pytest.mark.parametrize(
    "line",
    [
        "auto n = clock.now();", "file.read(p);", "File::read(p);", "stream->connect(a);",
        "x.time();", "Task<void> Http::read(int n) {}", "// time(nullptr)", 'log("fopen(x)");',
        "open(path, mode);",
        "const auto wall_time(now);", "int on_brand(int);", "std::chrono::seconds s{1};",
        "std::vector<int>::read(x);", "Disk::rename(a, b);", "my::environ_map m;",
    ],
)
def test_seams_let_interfaces_pass(tree, run, line):
    assert run(check_seams, tree({"src/net/http1/a.cc": line})) == (0, "")


def test_seams_allow_calls_in_core_but_threads_only_where_shards_are_made(tree, run):
    calls = "auto n = ::open(p, 0); fsync(n);\n"
    root = tree({"src/core/io/a.cc": calls, "src/core/rt/b.cc": "std::thread t;\n",
                 "src/core/io/a_test.cc": "std::jthread t;\n"})
    assert run(check_seams, root) == (0, "")
    code, out = run(check_seams, tree({"src/core/config/c.cc": "std::thread t;\n"}))
    assert code == 1 and "rt::BlockingPool" in out


def test_only_main_reads_the_environment(tree, run):
    assert run(check_seams, tree({"src/programs/leat/main.cc": "f(environ);\n"})) == (0, "")
    assert run(check_seams, tree({"src/programs/leat/serve.cc": "f(environ);\n"}))[0] == 1


# ---- style

GOOD_STYLE = {
    "README.md": "# Leat\n\n[docs](docs/README.md)\n",
    "docs/README.md": "# Docs\n\n[home](../README.md), [style](style.md#names)\n",
    "docs/style.md": "# Style\n\n```\n[not a link](nowhere.md)\n```\n",
    "src/net/http1/README.md": README,
    "src/net/http1/parser.h": "// Parser: reads heads.\n#pragma once\n\nint f();\n",
    "src/net/http1/parser_test.cc": "// TODO(#12): more\nint g() { return 1; }\n",
}


def test_style_passes_a_tidy_tree(tree, run):
    assert run(check_style, tree(GOOD_STYLE)) == (0, "")


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"src/net/http1/a.cc": "int a;" + " " * 95 + "\n"}, "101 columns"),
        ({"cmake/A.cmake": "#" * 101}, "101 columns"),
        ({"tests/a.py": "#" * 101}, "101 columns"),
        ({"src/net/http1/a.cc": "std::mutex m;\n"}, "std::mutex outside src/core"),
        ({"src/net/http1/a.cc": "std::shared_mutex m;\n"}, "std::mutex outside src/core"),
        ({"src/net/http1/a_test.cc": "clock.sleep_for(x);\n"}, "a test does not sleep"),
        ({"tests/integration/test_a.py": "import time\ntime.sleep(1)\n"}, "a test does not sleep"),
        ({"src/net/http1/a.cc": "// TODO: later\n"}, "TODO without an issue"),
        ({"src/net/http1/a.cc": "std::shuffle(a, b, c);\n"}, "std::shuffle"),
        ({"src/net/http1/a.cc": "std::random_device d;\n"}, "std::random_device"),
        ({"src/net/http1/a.cc": "std::uniform_int_distribution<int> d;\n"}, "std::uniform_*"),
        ({"src/net/http1/a.cc": "using namespace std;\n"}, "name what you use"),
        ({"src/net/http1/a.cc": "namespace leat::utils {}\n"}, "a namespace says"),
        ({"src/net/common/a.cc": "int a;\n"}, "folder common"),
        ({"src/net/tls/README.md": README, "src/net/tls/a.cc": ""}, "module without a unit test"),
        ({"src/net/tls/a_test.cc": ""}, "module without README.md"),
        ({"src/net/http1/README.md": "# short\n"}, "1 lines; a module's README has 10 to 40"),
        ({"docs/lost.md": "# Lost\n\n[me](lost.md)\n"}, "no other page links here"),
        ({"docs/style.md": "# Style\n\n[x](gone.md)\n"}, "links to gone.md"),
        ({"docs/style.md": "Style\n"}, "begins with its title"),
        ({"src/net/http1/b.h": "#pragma once\n// Late.\n"}, "a header begins with a comment"),
        ({"src/net/http1/b.h": "// Banner.\nint f();\n"}, "no #pragma once"),
        ({"tests/a.py": "x = '/" + "home/somebody/data'\n"}, "path of one machine"),
        ({"tests/a.py": "def broken(:\n"}, "not Python"),
    ],
)
def test_style_bites(tree, run, change, expected):
    code, out = run(check_style, tree({**GOOD_STYLE, **change}))
    assert code == 1 and expected in out


def test_style_lists_long_functions_and_files_without_failing(tree, run):
    body = "namespace a {\nint f(int x) {\n" + "  x += 1;\n" * 80 + "  return x;\n}\n}\n"
    root = tree({**GOOD_STYLE, "src/net/http1/a.cc": body, "src/net/http1/b.cc": "\n" * 600})
    code, out = run(check_style, root, "--list")
    assert code == 0
    assert "src/net/http1/a.cc:2: function of 83 lines" in out
    assert "src/net/http1/b.cc:1: 600 lines" in out


@pytest.mark.parametrize("tool", [check_coro, check_layers, check_seams, check_style])
def test_each_tool_explains_itself(tool, capsys):
    with pytest.raises(SystemExit) as stop:
        tool.main(["--help"])
    assert stop.value.code == 0 and "--root" in capsys.readouterr().out
