"""libleat.so by ctypes, as thin as can be: what leat.h says, with texts and lists of Python."""

import ctypes
import json
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def library_path():
    return Path(os.environ.get("LEAT_LIBRARY", ROOT / "build/dev/src/client/libleat.so")).resolve()


class Column(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("data", POINTER(ctypes.c_uint8)),
                ("size", c_uint64), ("offsets", POINTER(c_uint64)), ("dims", c_uint32),
                ("shape", POINTER(c_uint64)), ("present", POINTER(ctypes.c_uint8))]

    def values(self, count):
        """Bytes of each sample of a ragged column, None where it is lacking."""
        data = ctypes.string_at(self.data, self.size)
        pieces = [data[self.offsets[i]:self.offsets[i + 1]] for i in range(count)]
        if not self.present:
            return pieces
        return [piece if self.present[i] else None for i, piece in enumerate(pieces)]


class LibLeatError(Exception):
    STATUS = ["ok", "bad_request", "not_found", "denied", "conflict", "unavailable", "timeout",
              "corrupt", "io", "cancelled", "forked", "decode", "too_large", "internal"]

    def __init__(self, status, message, place):
        super().__init__(f"{self.STATUS[status]}: {message}")
        self.status, self.message, self.place = self.STATUS[status], message, json.loads(place)


class LibLeat:
    """The functions, with errors as exceptions."""

    def __init__(self, path=None):
        self.c = ctypes.CDLL(str(path or library_path()))
        for name, result in {
            "leat_version": c_char_p, "leat_error_message": c_char_p, "leat_error_place": c_char_p,
            "leat_buffer_data": c_void_p, "leat_buffer_size": c_size_t,
            "leat_dataset_size": c_uint64, "leat_dataset_info": c_char_p,
            "leat_batch_size": c_uint64, "leat_batch_rows": POINTER(c_uint64),
            "leat_batch_sources": POINTER(c_uint32), "leat_batch_position": c_uint64,
            "leat_batch_epoch": c_uint64, "leat_loader_batches": c_uint64,
            "leat_loader_samples": c_uint64,
        }.items():
            getattr(self.c, name).restype = result

    def call(self, name, *arguments):
        """Calls a function that may fail; the error is added behind the arguments."""
        error = c_void_p()
        status = getattr(self.c, name)(*arguments, byref(error))
        if status == 0:
            return
        message = self.c.leat_error_message(error).decode()
        place = self.c.leat_error_place(error).decode()
        self.c.leat_error_free(error)
        raise LibLeatError(status, message, place)

    def make(self, name, *arguments):
        """The same, for functions that give a handle."""
        handle = c_void_p()
        self.call(name, *arguments, byref(handle))
        return handle

    def text(self, name, *arguments):
        """The same, for functions that give a buffer."""
        buffer = self.make(name, *arguments)
        data = ctypes.string_at(self.c.leat_buffer_data(buffer), self.c.leat_buffer_size(buffer))
        self.c.leat_buffer_free(buffer)
        return data

    def connect(self, **options):
        return Session(self, self.make("leat_connect", json.dumps(options).encode()))


class Session:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def free(self):
        self.library.c.leat_session_free(self.handle)

    def ask(self, method, target, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        answer = self.library.text("leat_call", self.handle, method.encode(), target.encode(),
                                   data, c_size_t(len(data)))
        return json.loads(answer) if answer.strip() else None

    def put(self, name, data, **options):
        return json.loads(self.library.text("leat_put", self.handle, name.encode(), data,
                                            c_size_t(len(data)), json.dumps(options).encode()))

    def get(self, name, offset=0, length=2**64 - 1):
        return self.library.text("leat_get", self.handle, name.encode(), c_uint64(offset),
                                 c_uint64(length))

    def part(self, name, etag, offset, length):
        return self.library.text("leat_get_if", self.handle, name.encode(), etag.encode(),
                                 c_uint64(offset), c_uint64(length))

    def open(self, reference):
        return Dataset(self, self.library.make("leat_dataset_open", self.handle,
                                               reference.encode()))


class Dataset:
    def __init__(self, session, handle):
        self.session, self.library, self.handle = session, session.library, handle

    def __len__(self):
        return self.library.c.leat_dataset_size(self.handle)

    def free(self):
        self.library.c.leat_dataset_free(self.handle)

    def info(self):
        return json.loads(self.library.c.leat_dataset_info(self.handle))

    def rows(self, rows, **options):
        wanted = (c_uint64 * len(rows))(*rows)
        return Batch(self.library, self.library.make(
            "leat_read_rows", self.session.handle, self.handle, wanted, c_size_t(len(rows)),
            json.dumps(options).encode()))

    def plan(self, first, count, **options):
        data = self.library.text("leat_plan_rows", self.handle, json.dumps(options).encode(),
                                 c_uint64(first), c_uint64(count))
        return [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]

    def loader(self, **options):
        return Loader(self.library, self.library.make(
            "leat_loader_open", self.session.handle, self.handle, json.dumps(options).encode()))


class Loader:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def next(self):
        batch = self.library.make("leat_loader_next", self.handle)
        return Batch(self.library, batch) if batch else None

    def __iter__(self):
        while (batch := self.next()) is not None:
            yield batch
            batch.free()

    def report(self):
        return json.loads(self.library.text("leat_loader_report", self.handle))

    def cancel(self):
        self.library.c.leat_loader_cancel(self.handle)

    def free(self):
        self.library.c.leat_loader_free(self.handle)


class Batch:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def __len__(self):
        return self.library.c.leat_batch_size(self.handle)

    @property
    def position(self):
        return self.library.c.leat_batch_position(self.handle)

    @property
    def epoch(self):
        return self.library.c.leat_batch_epoch(self.handle)

    @property
    def rows(self):
        return self.library.c.leat_batch_rows(self.handle)[:len(self)]

    def columns(self):
        return {name.decode(): column for name, column in self.named_columns().items()}

    def named_columns(self):
        """By their names, which are bytes."""
        found = {}
        for number in range(self.library.c.leat_batch_columns(self.handle)):
            column = Column()
            self.library.call("leat_batch_column", self.handle, c_uint32(number), byref(column))
            found[column.name] = column
        return found

    def values(self, field):
        return self.columns()[field].values(len(self))

    def keys(self):
        column = Column()
        self.library.call("leat_batch_keys", self.handle, byref(column))
        return column.values(len(self))

    def free(self):
        self.library.c.leat_batch_free(self.handle)
