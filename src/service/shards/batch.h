// BatchReader: many small things in one answer, strictly in the order in which they were asked for.
//
//   BatchReader reader(store, indexes, std::move(request), admit);
//   for (;;) {
//     LEAT_CO_TRY(const auto lot, co_await reader.next());
//     if (lot.empty()) break;
//     for (const BatchReader::Outcome& one : lot) …
//   }
//
// Items come in lots: what a lot wants is read in the order of the disk, neighbours together and
// several at a time, and handed on in the order of the request. The first lot is small, so that the
// first byte is early. What is too large for a lot is handed on as a stream. Each item has its own
// outcome: one that is missing, damaged or forbidden says so and holds up no other.
//
// Shard: one. Lifetime: store and indexes outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shards/indexes.h"
#include "shards/ranges.h"

namespace leat::shards {

struct ObjectName {
  std::string bucket{};
  std::string key{};
  std::string etag{};                         // it must still have; empty: any
  std::optional<std::uint64_t> size_bytes{};  // the same

  // Errors: precondition_failed, when the object is another one by now.
  Status check_is(const record::Version& version) const;
  bool operator==(const ObjectName&) const = default;
};

// Where a field is, for who knows it without the index of the shard.
struct PlacedField {
  volume::ByteRange data{};
  std::uint32_t object = 0;  // its number in BatchRequest::objects
  std::uint32_t name = 0;    // its number in BatchRequest::field_names
};

struct BatchItem {
  enum class What : std::uint8_t {
    object,
    member,
    sample,
    places,  // fields of a sample, given by where they are
    failed,  // known not to be had; `error` and `name` say why
  };
  What what = What::object;
  std::uint32_t object = 0;  // its number in BatchRequest::objects; places have their own
  std::string name{};        // of the member or sample
  std::uint32_t fields = 0;  // of a sample: its number in BatchRequest::field_lists
  // Of an object or member: these bytes of it; cut where it ends.
  std::optional<volume::ByteRange> range{};
  std::vector<PlacedField> places{};
  Errc error = Errc::not_found;

  void set_failed(const Error& why);
  // Its answer has fields.
  bool is_sample() const { return what == What::sample || what == What::places; }
};

struct BatchRequest {
  std::vector<ObjectName> objects{};
  std::vector<std::vector<std::string>> field_lists{{}};  // an empty one: all fields
  std::vector<std::string> field_names{};                 // of places
  std::vector<BatchItem> items{};
};

class BatchReader {
 public:
  // Whether the caller may read the object; for one that is not there, what to say of it.
  // `version`: null when it is not there; the answer must be an error then.
  using Admit = std::function<Status(const ObjectName& name, const record::Version* version)>;

  BatchReader(store::ShardStore& store, ShardIndexes& indexes, BatchRequest request, Admit admit);
  ~BatchReader();

  struct Part {
    std::string field{};  // of a sample's
    std::uint64_t size_bytes = 0;
    Bytes bytes{};
    // In the place of the bytes, when they are too large for memory: to be read to its end before
    // the next call of next().
    std::unique_ptr<RangesSource> stream{};
  };
  struct Outcome {
    std::uint64_t item = 0;
    Status status{};
    std::vector<Part> parts{};
    std::string own{};  // the bytes of one that was read by itself

    std::uint64_t size_bytes() const;
  };

  // The next ones, valid until the next call; nothing at the end. Errors: none of an item's.
  rt::Task<std::span<Outcome>> next();

  const BatchRequest& request() const { return request_; }

 private:
  // An object as it was found for the items of it.
  struct Resolved {
    Result<store::Found> found;
    IndexPtr index{};
  };
  using ResolvedPtr = std::shared_ptr<Resolved>;
  // What is wanted of an item's objects, part by part.
  struct Wanted {
    std::vector<Part> parts{};
    std::vector<ResolvedPtr> objects{};  // one a part
    Ranges ranges{};                     // one a part
  };
  // Bytes that a part of an outcome waits for.
  struct Job {
    std::size_t outcome = 0;
    ResolvedPtr object{};
    volume::ByteRange range{};
    MutableBytes target{};
    bool is_done = false;
  };
  struct Reading;

  rt::Task<ResolvedPtr> resolve(std::uint32_t object, bool needs_index);
  rt::Task<store::Found> find(const ObjectName& name);
  rt::Task<Wanted> want(const BatchItem& item);
  static std::uint64_t memory_of(const Wanted& wanted);
  rt::Task<void> gather();
  void lay_out();
  rt::Task<void> read();
  rt::Task<Wanted> want_places(const BatchItem& item);
  // The objects are looked for again.
  void forget(const BatchItem& item);
  rt::Task<std::string> read_all(const Wanted& wanted);
  rt::Task<void> read_alone(std::size_t outcome);
  static rt::Task<void> work(std::shared_ptr<Reading> reading);
  static rt::Task<void> read_run(Reading& reading, std::size_t first, std::size_t count);

  store::ShardStore& store_;
  ShardIndexes& indexes_;
  const BatchRequest request_;
  const Admit admit_;
  std::size_t at_ = 0;  // the next item
  std::vector<ResolvedPtr> resolved_;
  std::size_t resolved_count_ = 0;
  std::vector<Outcome> outcomes_;
  std::vector<Wanted> wanted_;  // beside the outcomes
  std::shared_ptr<std::byte[]> memory_;
};

}  // namespace leat::shards
