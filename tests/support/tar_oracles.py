"""What other readers of tar make of a file, and what Leat makes of it, in the same words.

Members are (name, kind, start, data offset, size), names being bytes; None stands for a reader that
refused the file.
"""

import contextlib
import ctypes
import json
import locale
import os
import stat
import subprocess
import tarfile
from dataclasses import dataclass

from leat_process import ROOT, WAIT_SECONDS

BLOCK = 512
TOOLS = ROOT / "build/dev/tests/support"


def run_tool(name, *arguments, **options):
    program = TOOLS / name
    assert program.exists(), f"{program} is not there: build it with `make`"
    return subprocess.run([program, *arguments], check=True, capture_output=True,
                          timeout=5 * WAIT_SECONDS, **options).stdout


@dataclass
class Leat:
    state: str
    problem: str
    members: list  # (name, kind, start, data offset, size)
    samples: list  # (key, has a field twice, [(field, data offset, size)…])


def leat_lists(paths):
    """What leat_tar_list says of each file."""
    results = []
    for line in run_tool("leat_tar_list", *map(os.fspath, paths)).splitlines():
        found = json.loads(line)
        members = [(bytes.fromhex(name), *rest) for name, *rest in found["members"]]
        samples = [(bytes.fromhex(key), twice,
                    [(bytes.fromhex(field), at, size) for field, at, size in fields])
                   for key, twice, fields in found["samples"]]
        results.append(Leat(found["state"], found["problem"], members, samples))
    assert len(results) == len(paths)
    return results


def _tarfile_kind(member):
    if member.isreg():
        return "file"
    if member.isdir():
        return "directory"
    return "link" if member.issym() or member.islnk() else "other"


def tarfile_members(path):
    """As Leat.members, by Python's tarfile; None if it refuses the file."""
    members = []
    try:
        with tarfile.open(path, "r:", encoding="utf-8", errors="surrogateescape") as archive:
            for member in archive:
                kind = _tarfile_kind(member)
                has_data = kind == "file" or member.type not in tarfile.SUPPORTED_TYPES
                members.append((os.fsencode(member.name), kind, member.offset,
                                member.offset_data, member.size if has_data else 0))
    except (tarfile.TarError, ValueError, OverflowError, OSError, EOFError):
        return None
    return members


def _load_libarchive():
    library = ctypes.CDLL("libarchive.so.13")
    for name in ("archive_read_new", "archive_entry_pathname", "archive_entry_hardlink"):
        getattr(library, name).restype = ctypes.c_void_p
    library.archive_entry_size.restype = ctypes.c_int64
    library.archive_entry_filetype.restype = ctypes.c_uint
    library.archive_read_data.restype = ctypes.c_ssize_t
    return library


_LIBARCHIVE = _load_libarchive()
_EOF, _WARN = 1, -20


@contextlib.contextmanager
def _bytes_as_names():
    """In the locale C libarchive leaves names as they are; in others it composes characters."""
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    try:
        yield
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


def _libarchive_data(archive, size):
    data = ctypes.create_string_buffer(size + 1)
    count = _LIBARCHIVE.archive_read_data(archive, data, ctypes.c_size_t(size + 1))
    return data.raw[:count] if count >= 0 else None


def _libarchive_entry(archive, entry, with_data):
    name = _LIBARCHIVE.archive_entry_pathname(entry)
    size = _LIBARCHIVE.archive_entry_size(entry)
    kind = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}.get(
        _LIBARCHIVE.archive_entry_filetype(entry), "other")
    if _LIBARCHIVE.archive_entry_hardlink(entry):
        kind = "link"
    data = _libarchive_data(archive, size) if with_data else None
    return (ctypes.string_at(name).rstrip(b"/") if name else None, kind, size, data)


def libarchive_entries(path, with_data=True):
    """[(name, kind, size, data)…] by libarchive; None if it refuses the file."""
    archive = ctypes.c_void_p(_LIBARCHIVE.archive_read_new())
    entry = ctypes.c_void_p()
    entries = []
    try:
        with _bytes_as_names():
            _LIBARCHIVE.archive_read_support_format_tar(archive)
            opened = _LIBARCHIVE.archive_read_open_filename(archive, os.fsencode(path),
                                                            ctypes.c_size_t(10240))
            while opened == 0:
                said = _LIBARCHIVE.archive_read_next_header(archive, ctypes.byref(entry))
                if said == _EOF:
                    return entries
                if said < _WARN:
                    return None
                entries.append(_libarchive_entry(archive, entry, with_data))
    finally:
        _LIBARCHIVE.archive_read_free(archive)
    return None
