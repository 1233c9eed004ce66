// leat.h: Leat from C, and through it from every language that can call C.
//
//   leat_session *session = NULL;
//   leat_error *error = NULL;
//   if (leat_connect(NULL, &session, &error) != LEAT_OK) { puts(leat_error_message(error)); … }
//   leat_dataset *dataset = NULL;
//   leat_dataset_open(session, "imagenet/train@7", &dataset, &error);
//   leat_loader *loader = NULL;
//   leat_loader_open(session, dataset, "{\"batch_size\": 256, \"seed\": 42}", &loader, &error);
//   leat_batch *batch = NULL;
//   while (leat_loader_next(loader, &batch, &error) == LEAT_OK && batch != NULL) {
//     …; leat_batch_free(batch);
//   }
//
// Rules of all functions:
//   - A leat_status other than LEAT_OK comes with a leat_error in *error, which the caller frees; a
//     NULL `error` is allowed and means that nobody wants to know. Results are written on LEAT_OK
//     only. NULL is allowed for every free function.
//   - Texts are UTF-8 and end with a NUL; keys of samples are bytes with a length. Options and
//     descriptions are JSON texts: an unknown name in one is an error that names the nearest.
//   - Handles may be used from many threads at once, except a loader, a writer and a batch, which
//     belong to one at a time. leat_loader_cancel() may come from any thread.
//   - No thread is started before the first call that needs the network. A process that was forked
//     must not use a session, loader or writer of its parent (LEAT_FORKED); it connects anew, and
//     frees none of the parent's. Datasets and batches stay good: they are memory alone.
//   - Nothing is printed, no signal is touched, no file is left behind.
//
// The library is versioned by its soname; within one, functions are added and none changes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_API __attribute__((visibility("default")))
#define LEAT_ABI_VERSION 1

/* LEAT_ABI_VERSION of the library that is loaded, and its version as text. */
LEAT_API int leat_abi_version(void);
LEAT_API const char* leat_version(void);

// Errors.

typedef enum leat_status {
  LEAT_OK = 0,
  LEAT_BAD_REQUEST = 1, /* an option, a name or an argument that makes no sense */
  LEAT_NOT_FOUND = 2,
  LEAT_DENIED = 3,
  LEAT_CONFLICT = 4,    /* somebody else changed it; also a state of another dataset version */
  LEAT_UNAVAILABLE = 5, /* the service could not be reached within the budget of retries */
  LEAT_TIMEOUT = 6,
  LEAT_CORRUPT = 7, /* bytes that fail their checksum or make no sense, after retries */
  LEAT_IO = 8,
  LEAT_CANCELLED = 9,
  LEAT_FORKED = 10, /* a handle of the parent process */
  LEAT_DECODE = 11, /* a sample that is no image, another one than was asked for, or without it */
  LEAT_TOO_LARGE = 12,
  LEAT_INTERNAL = 13
} leat_status;

typedef struct leat_error leat_error;

LEAT_API leat_status leat_error_status(const leat_error* error);
/* One sentence: what, why, and what to do next. */
LEAT_API const char* leat_error_message(const leat_error* error);
/* Where, as far as it is known: {"dataset": …, "shard": …, "offset": …, "sample": …, "row": …}. */
LEAT_API const char* leat_error_place(const leat_error* error);
LEAT_API void leat_error_free(leat_error* error);

// Memory that the library hands out.

typedef struct leat_buffer leat_buffer;

LEAT_API const uint8_t* leat_buffer_data(const leat_buffer* buffer); /* a NUL stands behind it */
LEAT_API size_t leat_buffer_size(const leat_buffer* buffer);
LEAT_API void leat_buffer_free(leat_buffer* buffer);

// Sessions.

/* A connection pool, credentials and the threads that serve them. */
typedef struct leat_session leat_session;

/* `options`: NULL, or {"endpoint": "http://127.0.0.1:9000", "access_key": …, "secret_key": …,
 * "region": …, "profile": …, "ca_file": …, "retry_seconds": 30, "io_threads": 1, "local": true}.
 * What is not given comes from LEAT_ENDPOINT, AWS_ENDPOINT_URL[_S3], the AWS credential chain and
 * the user's configuration, as for the command line. Reaches nobody yet. */
LEAT_API leat_status leat_connect(const char* options, leat_session** session, leat_error** error);
LEAT_API void leat_session_free(leat_session* session);

/* One request to the native API: `target` is what stands behind "/_/v1/", with its query, already
 * percent-encoded, for instance "datasets/imagenet/train?log". The answer is a JSON text.
 * Sent again within the budget when it fails or its answer is lost. A commit or an adoption that
 * has no "transaction" gets one, so that it is made once. Who makes or removes a dataset, tag or
 * pin may be told that it is there or gone already: by an attempt of his own. */
LEAT_API leat_status leat_call(leat_session* session, const char* method, const char* target,
                               const void* body, size_t body_size, leat_buffer** answer,
                               leat_error** error);

// Objects: `name` is "BUCKET/KEY".

/* All of it, or `length` bytes from `offset`; length UINT64_MAX: up to the end.
 * LEAT_TOO_LARGE: there is no memory for it. */
LEAT_API leat_status leat_get(leat_session* session, const char* name, uint64_t offset,
                              uint64_t length, leat_buffer** bytes, leat_error** error);
/* The same of the object with this ETag alone, as leat_stat() says it: LEAT_CONFLICT if it was
 * replaced. So parts that are read one by one are of one version. */
LEAT_API leat_status leat_get_if(leat_session* session, const char* name, const char* etag,
                                 uint64_t offset, uint64_t length, leat_buffer** bytes,
                                 leat_error** error);
/* Verified by checksum. `options`: NULL or {"content_type": …, "metadata": {…}, "if_absent": true}.
 * The answer: {"etag": …, "size": …}. */
LEAT_API leat_status leat_put(leat_session* session, const char* name, const void* bytes,
                              size_t size, const char* options, leat_buffer** answer,
                              leat_error** error);
/* {"size": …, "etag": …, "modified_ms": …, "content_type": …, "metadata": {…}} */
LEAT_API leat_status leat_stat(leat_session* session, const char* name, leat_buffer** answer,
                               leat_error** error);
LEAT_API leat_status leat_remove(leat_session* session, const char* name, leat_error** error);
/* A page of names below "BUCKET/PREFIX"; "" lists buckets. `options`: NULL or {"recursive": false,
 * "continuation": …, "max": 1000}. The answer: {"objects": [{"key", "size", "etag",
 * "modified_ms"}…], "prefixes": […], "continuation": … or null}; of buckets {"buckets": […]}. */
LEAT_API leat_status leat_list(leat_session* session, const char* name, const char* options,
                               leat_buffer** answer, leat_error** error);

/* LEAT_CONFLICT if it is there. */
LEAT_API leat_status leat_make_bucket(leat_session* session, const char* bucket,
                                      leat_error** error);

// Datasets.

/* One version of a dataset: its snapshot in memory. Immutable, and good in forked processes. */
typedef struct leat_dataset leat_dataset;

/* `reference`: "BUCKET/NAME", with "@7", "@tag" or "@2026-11-01" behind it, "leat://" before it. */
LEAT_API leat_status leat_dataset_open(leat_session* session, const char* reference,
                                       leat_dataset** dataset, leat_error** error);
LEAT_API void leat_dataset_free(leat_dataset* dataset);

LEAT_API uint64_t leat_dataset_size(const leat_dataset* dataset); /* samples */
/* {"dataset": "imagenet/train", "version": 7, "fingerprint": …, "samples": …, "blocks": …,
 *  "shards": …, "bytes": …, "fields": ["cls", "jpg"]} */
LEAT_API const char* leat_dataset_info(const leat_dataset* dataset);
/* The key of a row, into memory that the caller frees. */
LEAT_API leat_status leat_dataset_key(const leat_dataset* dataset, uint64_t row, leat_buffer** key,
                                      leat_error** error);
/* The first row with that key; LEAT_NOT_FOUND. */
LEAT_API leat_status leat_dataset_find(const leat_dataset* dataset, const void* key,
                                       size_t key_size, uint64_t* row, leat_error** error);
/* All keys with a prefix, as rows in the order of keys: uint64_t each in the buffer. */
LEAT_API leat_status leat_dataset_select(const leat_dataset* dataset, const void* prefix,
                                         size_t prefix_size, leat_buffer** rows,
                                         leat_error** error);

// Batches.

/* Some samples, field by field, each field in one piece of memory. */
typedef struct leat_batch leat_batch;

typedef enum leat_dtype {
  LEAT_BYTES = 0, /* ragged: sample i is data[offsets[i] … offsets[i + 1]) */
  LEAT_UINT8 = 1,
  LEAT_INT64 = 2,
  LEAT_FLOAT32 = 3,
  LEAT_FLOAT64 = 4,
  LEAT_INT8 = 5,
  LEAT_INT16 = 6,
  LEAT_INT32 = 7,
  LEAT_UINT16 = 8,
  LEAT_UINT32 = 9,
  LEAT_UINT64 = 10,
  LEAT_FLOAT16 = 11,
  LEAT_BOOL = 12 /* a byte each, 0 or 1 */
} leat_dtype;

typedef struct leat_column {
  const char* name;
  leat_dtype dtype;
  const uint8_t* data;
  uint64_t size;           /* bytes of data */
  const uint64_t* offsets; /* count + 1 of them for LEAT_BYTES, else NULL */
  uint32_t dims; /* of the dense ones, the batch first: [count, height, width, channels] */
  const uint64_t* shape;
  const uint8_t* present; /* NULL: every sample has the field; else 1 or 0 each */
} leat_column;

LEAT_API uint64_t leat_batch_size(const leat_batch* batch);
LEAT_API uint32_t leat_batch_columns(const leat_batch* batch);
/* The pointers live as long as the batch. */
LEAT_API leat_status leat_batch_column(const leat_batch* batch, uint32_t number,
                                       leat_column* column, leat_error** error);
/* The row of each sample in its dataset; of a mix also which dataset, else NULL. */
LEAT_API const uint64_t* leat_batch_rows(const leat_batch* batch);
LEAT_API const uint32_t* leat_batch_sources(const leat_batch* batch);
/* Keys, as a column of LEAT_BYTES would have them. NULL unless the loader was asked for keys. */
LEAT_API leat_status leat_batch_keys(const leat_batch* batch, leat_column* keys,
                                     leat_error** error);
/* The place of its first sample in the order of the epoch over all ranks, and which epoch. */
LEAT_API uint64_t leat_batch_position(const leat_batch* batch);
LEAT_API uint64_t leat_batch_epoch(const leat_batch* batch);
LEAT_API void leat_batch_free(leat_batch* batch);

/* These rows, in this order, in one request. `options`: NULL or {"fields": ["jpg", "cls"],
 * "keys": true, "decode": {…}} as a loader's, and "seed": 0 for what decoding draws at random: the
 * same crop of a row whenever the seed is the same. */
LEAT_API leat_status leat_read_rows(leat_session* session, const leat_dataset* dataset,
                                    const uint64_t* rows, size_t count, const char* options,
                                    leat_batch** batch, leat_error** error);

// Loaders.

/* Reads an epoch by its plan, ahead of time: blocks are fetched, samples cut out, decoded and laid
 * out as batches by threads of its own, within its memory budget. */
typedef struct leat_loader leat_loader;

/* `options`, all of them optional:
 *   "batch_size": 1, "fields": [all], "keys": false,
 *   "shuffle": "block" | "full" | "none", "seed": 0, "epoch": 0, "window_bytes": 268435456,
 *   "rank": 0, "world": 1, "workers": [0, 1] (this process takes whole batches k mod W == w),
 *   "position": 0 (samples that all ranks together have consumed of the epoch),
 *   "tail": "drop" | "pad" | "uneven"   what happens to samples that do not fill all ranks'
 * batches: dropped; filled up from the epoch's beginning; or handed out as they fall, "rows":
 * [subset of rows, in the order in which they were stored], "repeat": false, "threads": 0 (by the
 * number of cores), "memory_bytes": 0 (by the window and the batch), "decode": {"jpg": {"to":
 * "rgb8", "size": [224, 224], "crop": "random_resized" | "center" | "none", "scale": [0.08, 1.0],
 * "ratio": [0.75, 1.3333], "flip": true}, "cls": {"to": "int64"}}, "on_error": "raise" | "skip",
 * "errors_max": 100, "retry_seconds": 30
 *
 * What a field is decoded "to": "bytes" (as it is), "text" or "json" (as it is, checked), "rgb8"
 * (an image), "int32", "int64", "float32", "float64" (a number as text), "raw" (the elements of an
 * array) or "npy" (a file of NumPy's); the last two with "dtype": "float32", … and "shape": [3, 4],
 * which all samples must have.
 *
 * A sample that lacks a field which is decoded is an error like one that cannot be decoded, unless
 * the field says "optional": true; then it has zeros, and `present` says so. */
LEAT_API leat_status leat_loader_open(leat_session* session, const leat_dataset* dataset,
                                      const char* options, leat_loader** loader,
                                      leat_error** error);
/* Several datasets in fixed proportions. `options` as above and "weights": [0.7, 0.3],
 * "samples": how many make an epoch (default: until the first one is used up); "rows" is a list,
 * or null, for each dataset. A mix of one takes the list alone. */
LEAT_API leat_status leat_loader_open_mix(leat_session* session,
                                          const leat_dataset* const* datasets, size_t count,
                                          const char* options, leat_loader** loader,
                                          leat_error** error);
/* The next batch; NULL in *batch and LEAT_OK at the end of the epoch. Waits as long as it takes;
 * LEAT_CANCELLED after leat_loader_cancel(). */
LEAT_API leat_status leat_loader_next(leat_loader* loader, leat_batch** batch, leat_error** error);
/* The same for callers who look after other things meanwhile, such as signals: LEAT_TIMEOUT if the
 * batch is not there within `timeout_ms`; the next call goes on waiting for it. */
LEAT_API leat_status leat_loader_next_within(leat_loader* loader, uint64_t timeout_ms,
                                             leat_batch** batch, leat_error** error);
/* How many batches this rank and worker gets in all, and how many samples the epoch has. */
LEAT_API uint64_t leat_loader_batches(const leat_loader* loader);
LEAT_API uint64_t leat_loader_samples(const leat_loader* loader);
/* Where time went, stage by stage, and what to do about it: docs/reference/python.md. */
LEAT_API leat_status leat_loader_report(const leat_loader* loader, leat_buffer** json,
                                        leat_error** error);
/* Wakes who waits in leat_loader_next(), now and from then on. */
LEAT_API void leat_loader_cancel(leat_loader* loader);
LEAT_API void leat_loader_free(leat_loader* loader);

/* The rows of positions [first, first + count) of the order that these options give, over all
 * ranks: uint64_t each. Needs no session: the order is computed. */
LEAT_API leat_status leat_plan_rows(const leat_dataset* dataset, const char* options,
                                    uint64_t first, uint64_t count, leat_buffer** rows,
                                    leat_error** error);

// Writers.

/* Packs samples into shards and sends them; nothing is to be seen before leat_writer_commit(). */
typedef struct leat_writer leat_writer;

/* `options`: NULL or {"shard_bytes": …, "mix_bytes": …, "seed": …, "message": …,
 * "transaction": …, "create": true}. What was committed under a transaction is not committed again:
 * a run that is repeated gets the version that is there, and what it sent is removed. */
LEAT_API leat_status leat_writer_open(leat_session* session, const char* dataset,
                                      const char* options, leat_writer** writer,
                                      leat_error** error);
/* One sample: its key, and `count` fields. Copies what it is given. */
LEAT_API leat_status leat_writer_add(leat_writer* writer, const void* key, size_t key_size,
                                     const char* const* fields, const void* const* values,
                                     const size_t* sizes, size_t count, leat_error** error);
/* One new version with all samples. The answer: {"version": …, "samples": …, "shards": …}. */
LEAT_API leat_status leat_writer_commit(leat_writer* writer, leat_buffer** answer,
                                        leat_error** error);
/* Without a commit before it, nothing of it stays; after one that failed so that it may have been
 * made all the same, what was sent stays as objects. */
LEAT_API void leat_writer_free(leat_writer* writer);

#ifdef __cplusplus
}
#endif
