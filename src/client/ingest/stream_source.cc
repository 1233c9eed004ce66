#include "ingest/stream_source.h"

#include <fmt/format.h>

#include <deque>

#include "ingest/tar_pieces.h"
#include "shard/sample_name.h"

namespace leat::ingest {
namespace {

constexpr std::size_t kReadBytes = kMiB;

// Makes samples of the members of a tar.
class Samples {
 public:
  Samples(Gathering& gathering, std::uint64_t max_bytes)
      : max_bytes_(max_bytes),
        findings_(gathering.findings),
        complain_(gathering.complain),
        choice_(gathering.fields),
        pieces_({.begin = [this](const tar::Member& member) { return begin(member); },
                 .data = [this](Bytes piece) { return data(piece); },
                 .end = [this] { return end(); }}) {}

  Status feed(Bytes bytes) { return pieces_.feed(bytes); }
  Status finish() {
    LEAT_DO(pieces_.finish());
    close_sample();
    findings_.special += pieces_.passed_over();
    return {};
  }
  std::deque<Sample> ready{};

 private:
  Status begin(const tar::Member& member) {
    name_ = member.name;
    data_.clear();
    // What is of the next sample does not count for the last one, which is whole now.
    const auto split = shard::split_name(name_);
    if (split && split->key != sample_.key) {
      close_sample();
      sample_.key = split->key;
    }
    if (sample_bytes_ + member.size_bytes > max_bytes_) {
      return fail(Errc::too_large,
                  fmt::format("{}: a sample of a stream has {} bytes at most", name_, max_bytes_));
    }
    sample_bytes_ += member.size_bytes;
    data_.reserve(member.size_bytes);
    return {};
  }

  Status data(Bytes piece) {
    data_ += as_text(piece);
    return {};
  }

  Status end() {
    const auto split = shard::split_name(name_);
    if (!split && !choice_.is_all()) {
      ++findings_.other_fields;
      return {};
    }
    if (!split) {
      // A writer takes samples alone.
      ++findings_.refused;
      complain_(name_, Error(Errc::bad_request, "it is in no sample: it has no extension"));
      return {};
    }
    if (!choice_.takes(split->field)) {
      ++findings_.other_fields;
      return {};
    }
    ++findings_.files;
    sample_.fields.emplace_back(split->field, std::move(data_));
    return {};
  }

  void close_sample() {
    if (sample_.fields.empty()) {
      if (!sample_.key.empty()) ++findings_.without_any;
    } else {
      ready.push_back(std::move(sample_));
    }
    sample_ = {};
    sample_bytes_ = 0;
  }

  const std::uint64_t max_bytes_;
  Findings& findings_;
  const Complain& complain_;
  const FieldChoice& choice_;
  std::string name_;
  std::string data_;
  Sample sample_;
  std::uint64_t sample_bytes_ = 0;
  TarPieces pieces_;
};

rt::Task<void> hand_over(Samples& samples, Writer& writer, Gathering& gathering) {
  while (!samples.ready.empty()) {
    Sample sample = std::move(samples.ready.front());
    samples.ready.pop_front();
    const std::string key = sample.key;
    const Status added = co_await writer.add(std::move(sample));
    if (!added && added.error().code() != Errc::bad_request) co_return fail(added.error());
    if (added) continue;
    ++gathering.findings.refused;
    gathering.complain(key, added.error());
  }
  co_return Status{};
}

}  // namespace

rt::Task<void> write_archive(transfer::Tools& tools, transfer::ByteSource& source, Writer& writer,
                             Gathering& gathering, std::uint64_t sample_max_bytes) {
  Samples samples(gathering, sample_max_bytes);
  LEAT_CO_TRY(const auto lease, co_await tools.memory.lease(kReadBytes));
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await source.read(lease.bytes()));
    LEAT_CO_DO(samples.feed(Bytes(lease.bytes()).first(count)));
    LEAT_CO_DO(co_await hand_over(samples, writer, gathering));
    if (count < lease.bytes().size()) break;
  }
  LEAT_CO_DO(samples.finish());
  co_return co_await hand_over(samples, writer, gathering);
}

}  // namespace leat::ingest
