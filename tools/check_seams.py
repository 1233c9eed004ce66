#!/usr/bin/python3
"""Time, randomness, network, files and threads are arguments: only src/core asks the machine.

That is what lets a simulated clock, disk and network drive everything above them. Comments and
string literals are ignored.
"""

import re
import sys

import source_tree


def _global_calls(*names):
    """::read(…) but not File::read(…) or file.read(…)."""
    return rf"(?<![\w>:])::\s*(?:{'|'.join(names)})\s*\("


def _bare_calls(*names):
    """time(…), std::time(…) and ::time(…) but not clock.time(…), x->time(…) or Foo::time(…)."""
    return rf"(?:\bstd::|(?<![\w>:])::|(?<![\w.>:]))(?:{'|'.join(names)})\s*\("


# (what is found, what to use instead)
SEAMS = [
    (r"\b\w+_clock\s*::\s*now\b", "take an io::Clock& and ask now()"),
    (_bare_calls("clock_gettime", "gettimeofday", "time", "localtime", "localtime_r"),
     "take an io::Clock&"),
    (_bare_calls("sleep", "usleep", "nanosleep", "clock_nanosleep"),
     "await io::Clock::sleep_until()"),
    (_bare_calls("getrandom", "getentropy", "arc4random", "rand", "srand", "rand_r"),
     "take an io::Rng&"),
    (r"\bstd::(?:random_device|mt19937(?:_64)?|default_random_engine|minstd_rand0?)\b",
     "take an io::Rng&"),
    (_global_calls("socket", "bind", "listen", "connect", "accept", "accept4", "send", "sendto",
                   "sendmsg", "recv", "recvfrom", "recvmsg", "shutdown", "poll", "select",
                   "getsockopt", "setsockopt"),
     "take an io::Network& or an io::Stream&"),
    (_bare_calls("sendfile", "splice", "getaddrinfo", "epoll_create1", "epoll_ctl", "epoll_wait"),
     "take an io::Network& or an io::Stream&"),
    (_global_calls("open", "openat", "creat", "close", "read", "write", "pread", "pwrite", "readv",
                   "writev", "preadv", "pwritev", "lseek", "rename", "renameat", "unlink",
                   "unlinkat", "link", "symlink", "mkdir", "rmdir", "stat", "fstat", "lstat",
                   "statvfs", "truncate", "ftruncate", "mmap", "flock", "remove"),
     "take an io::Disk&, an io::File& or an io::FileIo&"),
    (_bare_calls("fopen", "freopen", "opendir", "fsync", "fdatasync", "sync_file_range",
                 "fallocate", "posix_fadvise", "mkstemp", "tmpfile"),
     "take an io::Disk& or an io::FileIo&"),
    (r"\bstd::(?:basic_)?[io]?fstream\b|\bstd::filesystem\b", "take an io::Disk&"),
    (r"\bio_uring_\w+\s*\(", "take an io::FileIo&"),
    (_bare_calls("getenv", "secure_getenv", "setenv", "putenv") + r"|(?<![\w.>])environ\b",
     "take the value as an argument; configuration comes from core/config"),
]

THREADS = (r"\bstd::(?:jthread|thread|this_thread|async)\b|\bpthread_create\b",
           "spawn a task on an rt::Shard, or use rt::BlockingPool")

# Modules of src/core that may start threads; its tests may, too.
THREAD_MODULES = {"src/core/rt", "src/core/log"}

# (file, what it may use, reason)
EXCEPTIONS = [
    ("src/programs/leat/main.cc", "environ", "LEAT_* variables enter the process here, once"),
    ("src/client/capi/connect.cc", "environ", "and here, for programs that call the library"),
]


def excepted(path, found):
    return any(path.as_posix() == file and word in found for file, word, _ in EXCEPTIONS)


def rules_for(path):
    if path.parts[:2] != ("src", "core"):
        return [*SEAMS, THREADS]
    if "/".join(path.parts[:3]) in THREAD_MODULES or path.stem.endswith("_test"):
        return []
    return [THREADS]


def check(path, text, report):
    code = source_tree.code_only(text)
    for pattern, instead in rules_for(path):
        for match in re.finditer(pattern, code):
            found = re.sub(r"\s*\($", "", match[0]).strip()
            if not excepted(path, found):
                report.add(path, source_tree.line_of(code, match.start()), f"{found}: {instead}")


def main(arguments=None):
    args = source_tree.parser(__doc__).parse_args(arguments)
    report = source_tree.Report()
    for path in source_tree.files(args.root):
        if path.suffix in source_tree.CPP_SUFFIXES and path.parts[0] == "src":
            check(path, source_tree.read(args.root, path), report)
    return report.finish("check_seams")


if __name__ == "__main__":
    sys.exit(main())
