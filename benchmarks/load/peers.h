// The peers of the store: what one would build in an afternoon instead.
//
// put_files: one file per object, durable the way POSIX asks for: a temporary name, write,
// fdatasync, rename, fsync of the folder.
// put_rocksdb: a RocksDB with the objects as values, every put synced to its log; writers that come
// together share a sync. It is set up for this work: large buffers, no compression of random bytes,
// and values of 4 KiB and more in blob files.
//
// Thread: each starts its own.
#pragma once

#include "load/workload.h"

namespace leat::benchmarks {

// Each ends the process with a line on stderr when a call fails: there is no figure then.
Outcome put_files(const Workload& work);
Outcome put_rocksdb(const Workload& work);

// The objects as files, quickly and without syncs, for servers of files to serve.
Outcome fill_files(const Workload& work);

}  // namespace leat::benchmarks
