// Opens a dataset, reads the first batch of a shuffled epoch, and says what is in it.
//
//   cc -Iinclude examples/c/first_batch.c -lleat -o first_batch
//   eval "$(leat env ~/data)"                     # where the service is, and a key for it
//   ./first_batch imagenet/train
#include <inttypes.h>
#include <stdio.h>

#include "leat/leat.h"

static int complain(leat_error *error) {
  fprintf(stderr, "%s\n", leat_error_message(error));
  leat_error_free(error);
  return 1;
}

static void show(const leat_batch *batch) {
  printf("%" PRIu64 " samples from position %" PRIu64 "\n", leat_batch_size(batch),
         leat_batch_position(batch));
  for (uint32_t i = 0; i < leat_batch_columns(batch); ++i) {
    leat_column column;
    if (leat_batch_column(batch, i, &column, NULL) != LEAT_OK) continue;
    printf("  %s: %" PRIu64 " bytes\n", column.name, column.size);
  }
}

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "usage: %s BUCKET/DATASET\n", words[0]);
    return 2;
  }
  leat_error *error = NULL;
  leat_session *session = NULL;
  if (leat_connect(NULL, &session, &error) != LEAT_OK) return complain(error);
  leat_dataset *dataset = NULL;
  if (leat_dataset_open(session, words[1], &dataset, &error) != LEAT_OK) return complain(error);
  printf("%s\n", leat_dataset_info(dataset));

  leat_loader *loader = NULL;
  const char *options = "{\"batch_size\": 16, \"seed\": 42, \"tail\": \"uneven\"}";
  if (leat_loader_open(session, dataset, options, &loader, &error) != LEAT_OK) {
    return complain(error);
  }
  leat_batch *batch = NULL;
  if (leat_loader_next(loader, &batch, &error) != LEAT_OK) return complain(error);
  if (batch != NULL) show(batch);

  leat_batch_free(batch);
  leat_loader_free(loader);
  leat_dataset_free(dataset);
  leat_session_free(session);
  return 0;
}
