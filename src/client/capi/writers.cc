// Writers: samples one by one, packed and sent in the background, and one commit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "capi/handles.h"
#include "capi/options.h"
#include "ingest/writer.h"
#include "io/disk.h"
#include "io/pool_io.h"

namespace leat::capi {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kJobsMax = 4096;
// Samples are handed to the shard some at a time: one by one the handing over would take longest.
constexpr std::uint64_t kPendingBytes = kMiB;

rt::Task<void> add_all(ingest::Writer& writer, std::vector<ingest::Sample>& samples) {
  for (ingest::Sample& sample : samples)
    LEAT_CO_DO(co_await writer.add(std::move(sample)));
  co_return Status{};
}

}  // namespace
}  // namespace leat::capi

// Threads and a connection of its own. Freed in the order: writer, link, session.
struct leat_writer {
  leat_writer(std::shared_ptr<leat::session::Session> of, std::unique_ptr<leat::session::Link> own,
              leat::ingest::WriterOptions options)
      : session(std::move(of)),
        owner(getpid()),
        link(std::move(own)),
        tools{link->shard(), link->client(), disk, files, pool, memory, counters, transfer},
        writer(tools, rng, std::move(options)) {}

  leat::Status flush();
  leat::Result<leat::ingest::Committed> commit();
  void stop();

  std::shared_ptr<leat::session::Session> session;
  pid_t owner;
  std::unique_ptr<leat::session::Link> link;
  leat::io::PosixDisk disk{};
  leat::rt::BlockingPool pool{"leat-writer", leat::capi::kThreads, leat::capi::kJobsMax};
  leat::io::PoolIo files{pool};
  leat::transfer::TransferOptions transfer{};
  leat::transfer::MemoryBudget memory{transfer.memory_max_bytes};
  leat::transfer::Counters counters{};
  leat::transfer::Tools tools;
  leat::io::SystemRng rng{};
  leat::ingest::Writer writer;
  std::vector<leat::ingest::Sample> pending{};
  std::uint64_t pending_bytes = 0;
  bool is_committed = false;
};

leat::Status leat_writer::flush() {
  if (pending.empty()) return {};
  leat::Status added = leat::rt::run_and_wait<void>(
      link->shard(), [this] { return leat::capi::add_all(writer, pending); });
  pending.clear();
  pending_bytes = 0;
  return added;
}

leat::Result<leat::ingest::Committed> leat_writer::commit() {
  LEAT_DO(flush());
  auto committed = leat::rt::run_and_wait<leat::ingest::Committed>(
      link->shard(), [this] { return writer.commit(); });
  is_committed = committed.has_value();
  return committed;
}

void leat_writer::stop() {
  if (!is_committed) {
    // What could not be removed is no part of any version.
    const leat::Status aborted =
        leat::rt::run_and_wait<void>(link->shard(), [this] { return writer.abort(); });
    static_cast<void>(aborted);
  }
  pool.finish();
  link->stop();
}

namespace leat::capi {
namespace {

// A name for the shards of this writer that nobody else has.
std::string new_transaction() {
  io::SystemRng rng;
  return fmt::format("w-{:016x}", rng.next());
}

Result<ingest::WriterOptions> writer_options(std::string_view dataset, const Options& options) {
  ingest::WriterOptions writer;
  const std::size_t slash = dataset.find('/');
  if (slash == dataset.npos || slash == 0 || slash + 1 == dataset.size()) {
    return fail(Errc::bad_request, fmt::format("{:?}: a dataset is named BUCKET/NAME", dataset));
  }
  writer.bucket = dataset.substr(0, slash);
  writer.name = dataset.substr(slash + 1);
  LEAT_TRY(writer.shard_bytes, options.number("shard_bytes", writer.shard_bytes));
  LEAT_TRY(writer.mix_bytes, options.number("mix_bytes", writer.mix_bytes));
  LEAT_TRY(writer.seed, options.number("seed", 0));
  LEAT_TRY(writer.message, options.text("message", ""));
  LEAT_TRY(writer.transaction, options.text("transaction", ""));
  if (writer.transaction.empty()) writer.transaction = new_transaction();
  return writer;
}

Outcome<leat_writer*> open_writer(const leat_session* handle, const char* dataset,
                                  const char* text) {
  constexpr std::array<std::string_view, 6> kKnown = {"shard_bytes", "mix_bytes",   "seed",
                                                      "message",     "transaction", "create"};
  LEAT_C_TRY(session::Session* const opened, session_of(handle));
  LEAT_C_TRY(const Options options, Options::parse(text, kKnown));
  LEAT_C_TRY(ingest::WriterOptions wanted, writer_options(dataset, options));
  LEAT_C_TRY(const bool creates, options.flag("create", true));
  if (!creates) {
    LEAT_C_DO(opened->run<dataset::DatasetFacts>([dataset](s3client::S3Client& client) {
      return dataset::describe_dataset(client, dataset);
    }));
  }
  LEAT_C_TRY(std::unique_ptr<session::Link> link, opened->open_link());
  return new leat_writer(handle->session, std::move(link), std::move(wanted));
}

Outcome<void> check_writer(const leat_writer* writer) {
  if (writer == nullptr) return trouble(LEAT_BAD_REQUEST, "there is no writer");
  if (is_forked(writer->owner)) {
    return trouble(LEAT_FORKED, "the writer was made before this process was forked: make another");
  }
  return {};
}

}  // namespace
}  // namespace leat::capi

using namespace leat::capi;

extern "C" {

leat_status leat_writer_open(leat_session* session, const char* dataset, const char* options,
                             leat_writer** writer, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(*writer, open_writer(session, dataset, options));
    return {};
  });
}

leat_status leat_writer_add(leat_writer* writer, const void* key, size_t key_size,
                            const char* const* fields, const void* const* values,
                            const size_t* sizes, size_t count, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_DO(check_writer(writer));
    leat::ingest::Sample sample;
    sample.key.assign(static_cast<const char*>(key), key_size);
    for (std::size_t i = 0; i < count; ++i) {
      sample.fields.emplace_back(fields[i],
                                 std::string(static_cast<const char*>(values[i]), sizes[i]));
    }
    LEAT_C_DO(leat::ingest::check_sample(sample));
    writer->pending_bytes += sample.size_bytes();
    writer->pending.push_back(std::move(sample));
    if (writer->pending_bytes >= kPendingBytes) LEAT_C_DO(writer->flush());
    return {};
  });
}

leat_status leat_writer_commit(leat_writer* writer, leat_buffer** answer, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_DO(check_writer(writer));
    LEAT_C_TRY(const leat::ingest::Committed done, writer->commit());
    const nlohmann::json said = {
        {"version", done.version}, {"samples", done.samples}, {"shards", done.shards}};
    if (answer != nullptr) *answer = new_buffer(said.dump());
    return {};
  });
}

void leat_writer_free(leat_writer* writer) {
  // What belongs to threads cannot be taken apart without them.
  if (writer == nullptr || is_left_alone(writer->owner)) return;
  writer->stop();
  delete writer;
}

}  // extern "C"
