"""A PUT is answered after its bytes and its name are durable: seen in the calls the program makes.

Only with --io psync: strace does not see what io_uring does.
"""

import re
import subprocess

import pytest

from leat_process import need, wait_until

STRACE = ["strace", "-D", "-f", "-y", "-s", "40", "-e",
          "trace=fdatasync,fsync,renameat,renameat2,unlinkat,sendmsg"]


def strace_works():
    tried = subprocess.run([need("strace"), "-o", "/dev/null", "true"], capture_output=True)
    return tried.returncode == 0


pytestmark = pytest.mark.skipif(not strace_works(), reason="processes may not be traced here")


def finished_calls(trace):
    """Calls in the order in which they ended, each as one line without its thread."""
    pending, calls = {}, []
    for line in trace.read_text().splitlines():
        thread, call = line.split(maxsplit=1)
        if call.endswith("<unfinished ...>"):
            pending[thread] = call.removesuffix("<unfinished ...>")
        elif resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            calls.append(pending.pop(thread) + resumed[1])
        else:
            calls.append(call)
    return calls


def place(calls, pattern, after=-1):
    """Where the first call that matches ended, after another one."""
    for at in range(after + 1, len(calls)):
        if re.search(pattern, calls[at]):
            return at
    raise AssertionError(f"no {pattern} after call {after} of:\n" + "\n".join(calls))


@pytest.fixture
def traced(start, tmp_path):
    """(server, folder, stop): stop() ends the server and returns its calls."""
    folder, trace = tmp_path / "shared", tmp_path / "trace"
    folder.mkdir()
    server = start("share", folder, "--writable", "--io", "psync",
                   wrapper=[*STRACE, "-o", str(trace)],
                   environment={"ASAN_OPTIONS": "detect_leaks=0"})  # cannot look while traced

    def stop():
        server.stop()
        ending = rf"^{server.pid} +\+\+\+ exited with 0"
        wait_until(lambda: re.search(ending, trace.read_text(), re.MULTILINE), "the trace's end")
        return finished_calls(trace)

    return server, folder, stop


@pytest.mark.parametrize("size", [0, 100, 3 << 20])
def test_a_put_syncs_the_file_then_its_name_then_answers(traced, size):
    server, folder, stop = traced
    assert server.ask("PUT /f", body=b"x" * size).status == 201
    calls = stop()
    data = place(calls, r"fdatasync\(.*\.leat-upload-.*= 0")
    name = place(calls, r'renameat2?\(.*\.leat-upload-.*"f".* = 0', after=data)
    entry = place(calls, rf"fsync\(\d+<{re.escape(str(folder))}>\) = 0", after=name)
    place(calls, r"sendmsg\(.*HTTP/1\.1 201", after=entry)


def test_folders_made_on_the_way_are_synced_too(traced):
    server, folder, stop = traced
    assert server.ask("PUT /a/b/f", body=b"x").status == 201
    calls = stop()
    last = place(calls, r"fdatasync\(.*\.leat-upload-.*= 0")
    answered = place(calls, r"sendmsg\(.*HTTP/1\.1 201")
    for synced in (folder / "a" / "b", folder / "a", folder):
        assert place(calls, rf"fsync\(\d+<{re.escape(str(synced))}>\) = 0") < answered
    assert last < answered


def test_a_delete_is_durable_when_it_is_answered(traced):
    server, folder, stop = traced
    (folder / "f").write_bytes(b"x")
    assert server.ask("DELETE /f").status == 204
    calls = stop()
    gone = place(calls, r'unlinkat\(.*"f", 0\) = 0')
    entry = place(calls, rf"fsync\(\d+<{re.escape(str(folder))}>\) = 0", after=gone)
    place(calls, r"sendmsg\(.*HTTP/1\.1 204", after=entry)
