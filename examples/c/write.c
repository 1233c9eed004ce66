// Writes a small dataset, one sample after the other, commits it, and reads all of it back.
//
//   cc -Iinclude examples/c/write.c -lleat -o write
//   eval "$(leat env ~/data)"                     # where the service is, and a key for it
//   ./write photos/numbers                        # the bucket is there: leat mb photos
//
// The transaction makes it safe to run again after a crash: what was committed once is not
// committed again.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "leat/leat.h"

enum { kSamples = 100 };

static int complain(leat_error *error) {
  fprintf(stderr, "%s\n", leat_error_message(error));
  leat_error_free(error);
  return 1;
}

// One sample: a text, and its length as the label.
static leat_status add(leat_writer *writer, int number, leat_error **error) {
  char key[16];
  char text[64];
  char label[16];
  snprintf(key, sizeof key, "%06d", number);
  snprintf(text, sizeof text, "%d times %d is %d", number, number, number * number);
  snprintf(label, sizeof label, "%zu", strlen(text));
  const char *fields[] = {"txt", "cls"};
  const void *values[] = {text, label};
  const size_t sizes[] = {strlen(text), strlen(label)};
  return leat_writer_add(writer, key, strlen(key), fields, values, sizes, 2, error);
}

static int write_all(leat_session *session, const char *name) {
  leat_error *error = NULL;
  leat_writer *writer = NULL;
  const char *options = "{\"message\": \"squares\", \"transaction\": \"squares-1\"}";
  if (leat_writer_open(session, name, options, &writer, &error) != LEAT_OK) return complain(error);
  leat_status status = LEAT_OK;
  for (int number = 0; number < kSamples && status == LEAT_OK; ++number)
    status = add(writer, number, &error);
  leat_buffer *answer = NULL;
  if (status == LEAT_OK) status = leat_writer_commit(writer, &answer, &error);
  // What is not committed leaves nothing behind.
  leat_writer_free(writer);
  if (status != LEAT_OK) return complain(error);
  printf("committed %s\n", (const char *)leat_buffer_data(answer));
  leat_buffer_free(answer);
  return 0;
}

// Every label says how long its text is.
static int check(const leat_batch *batch) {
  leat_column labels;
  leat_column texts;
  if (leat_batch_column(batch, 0, &labels, NULL) != LEAT_OK) return 1;
  if (leat_batch_column(batch, 1, &texts, NULL) != LEAT_OK) return 1;
  for (uint64_t i = 0; i < leat_batch_size(batch); ++i) {
    int64_t label = 0;
    memcpy(&label, labels.data + i * sizeof label, sizeof label);
    const uint64_t length = texts.offsets[i + 1] - texts.offsets[i];
    if ((uint64_t)label != length) {
      fprintf(stderr, "row %" PRIu64 " is another one\n", leat_batch_rows(batch)[i]);
      return 1;
    }
  }
  return 0;
}

static int read_all(leat_session *session, const char *name) {
  leat_error *error = NULL;
  leat_dataset *dataset = NULL;
  if (leat_dataset_open(session, name, &dataset, &error) != LEAT_OK) return complain(error);
  leat_loader *loader = NULL;
  const char *options =
      "{\"batch_size\": 16, \"tail\": \"uneven\", \"fields\": [\"cls\", \"txt\"],"
      " \"decode\": {\"cls\": {\"to\": \"int64\"}}}";
  if (leat_loader_open(session, dataset, options, &loader, &error) != LEAT_OK) {
    return complain(error);
  }
  uint64_t samples = 0;
  leat_batch *batch = NULL;
  leat_status status = LEAT_OK;
  while ((status = leat_loader_next(loader, &batch, &error)) == LEAT_OK && batch != NULL) {
    samples += leat_batch_size(batch);
    const int is_wrong = check(batch);
    leat_batch_free(batch);
    if (is_wrong) return 1;
  }
  leat_loader_free(loader);
  leat_dataset_free(dataset);
  if (status != LEAT_OK) return complain(error);
  printf("read %" PRIu64 " samples back\n", samples);
  return samples == kSamples ? 0 : 1;
}

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "usage: %s BUCKET/DATASET\n", words[0]);
    return 2;
  }
  leat_error *error = NULL;
  leat_session *session = NULL;
  if (leat_connect(NULL, &session, &error) != LEAT_OK) return complain(error);
  int failed = write_all(session, words[1]);
  if (!failed) failed = read_all(session, words[1]);
  leat_session_free(session);
  return failed;
}
