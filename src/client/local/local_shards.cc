#include "local/local_shards.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/encoding.h"
#include "handover/handover.h"
#include "io/unix_socket.h"
#include "record/types.h"

namespace leat::local {

using nlohmann::json;
using s3client::ObjectName;

namespace {

// What a node stores in one file of a large object.
constexpr std::uint64_t kFileBytes = 64 * kMiB;

// Of the API, not of a bucket: bucket names do not begin so.
const ObjectName kCall{"_", "v1/local"};

std::unexpected<Error> strange(std::string_view what) {
  return fail(Errc::io, fmt::format("the node's answer about a local object is strange: {}", what));
}

// The code whose name the API uses for it; others are io.
Errc code_named(std::string_view name) {
  for (const Errc code : {Errc::denied, Errc::not_found, Errc::precondition_failed,
                          Errc::not_implemented, Errc::busy, Errc::unavailable}) {
    if (traits(code).name == name) return code;
  }
  return Errc::io;
}

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Nothing for a key that is not UTF-8: JSON cannot say it.
std::optional<std::string> encode_request(const ObjectName& name, const std::string& etag) {
  json wanted = {{"object", name.text()}};
  if (!etag.empty()) wanted["etag"] = etag;
  const json document = {{"objects", json::array({std::move(wanted)})}};
  try {
    return document.dump();
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string kept_name(const ObjectName& name, const std::string& etag) {
  return etag + ' ' + name.text();
}

Result<LocalObjectPtr> object_of(handover::Answer answer, std::vector<io::Descriptor> descriptors) {
  if (answer.status != 200) {
    return fail(answer.status == 503 ? Errc::busy : Errc::unavailable, std::move(answer.message));
  }
  if (descriptors.size() != answer.files.size()) return strange("another number of files came");
  std::vector<LocalObject::Piece> pieces;
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    handover::FilePart& part = answer.files[i];
    LEAT_TRY(auto file, io::adopt_file(std::move(descriptors[i]), fmt::format("local file {}", i)));
    pieces.push_back(
        {.file = std::move(file), .size_bytes = part.size_bytes, .sums = std::move(part.sums)});
  }
  return std::make_shared<const LocalObject>(std::move(pieces));
}

// The node's answer to one ticket.
rt::Task<LocalObjectPtr> exchange(io::UnixStream& stream, const std::vector<std::byte>& ticket) {
  const Bytes sent(ticket);
  const std::span<const int> nothing;
  LEAT_CO_DO(co_await io::write_all_with(stream, sent, nothing));
  std::vector<io::Descriptor> descriptors;
  std::vector<std::byte> whole(handover::kHeadBytes);
  const MutableBytes first(whole);
  LEAT_CO_DO(co_await io::read_all_with(stream, first, descriptors));
  LEAT_CO_TRY(const handover::Head head, handover::decode_head(whole));
  whole.resize(handover::kHeadBytes + head.body_bytes);
  const MutableBytes rest = MutableBytes(whole).subspan(handover::kHeadBytes);
  LEAT_CO_DO(co_await io::read_all_with(stream, rest, descriptors));
  LEAT_CO_TRY(handover::Answer answer, handover::decode(whole));
  co_return object_of(std::move(answer), std::move(descriptors));
}

}  // namespace

struct LocalShards::Admission {
  std::string socket{};
  std::vector<std::byte> ticket{};
};

LocalShards::LocalShards(rt::Shard& shard, io::Watchdog& watchdog, s3client::S3Client& client,
                         LocalOptions options)
    : shard_(shard), watchdog_(watchdog), client_(client), options_(options) {}

std::unexpected<Error> LocalShards::out_of_reach(const Error& error) {
  is_within_reach_ = false;
  return fail(Errc::not_implemented,
              fmt::format("this node passes no files to us: {}", error.detail()));
}

bool LocalShards::can_keep(std::uint64_t objects, std::uint64_t size_bytes) const {
  // At most one file of an object is not full.
  return objects + size_bytes / kFileBytes <= options_.descriptors_max;
}

rt::Task<LocalObjectPtr> LocalShards::open(ObjectName name, std::string etag) {
  if (!is_within_reach_) co_return fail(Errc::not_implemented, "this node passes no files to us");
  const std::string key = kept_name(name, etag);
  if (const auto found = by_name_.find(key); found != by_name_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    co_return kept_.front().object;
  }
  LEAT_CO_TRY(const Admission admission, co_await ask(name, etag));
  LEAT_CO_TRY(LocalObjectPtr object, co_await fetch(admission));
  if (!etag.empty()) keep(key, object);
  co_return object;
}

rt::Task<LocalShards::Admission> LocalShards::ask(const ObjectName& name, const std::string& etag) {
  const auto body = encode_request(name, etag);
  if (!body) co_return fail(Errc::not_implemented, "the key is not UTF-8");
  const s3client::Request request{
      .method = "POST", .name = kCall, .query = {}, .fields = {}, .body = as_bytes(*body)};
  auto answer = co_await client_.ask(request);
  if (!answer) {
    const Errc code = answer.error().code();
    // A node of an earlier version has no such call, and one that has it may have it turned off.
    if (code == Errc::not_implemented || code == Errc::not_found ||
        code == Errc::method_not_allowed) {
      co_return out_of_reach(answer.error());
    }
    co_return fail(std::move(answer).error());
  }
  const json said = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
  if (!said.is_object()) co_return strange("no JSON");
  const auto objects = said.find("objects");
  if (objects == said.end() || !objects->is_array() || objects->size() != 1 ||
      !objects->front().is_object()) {
    co_return strange("not one object");
  }
  const json& one = objects->front();
  if (one.contains("error")) {
    co_return fail(code_named(text_of(one, "error")), text_of(one, "message"));
  }
  auto ticket = from_hex(text_of(one, "ticket"));
  if (!ticket || ticket->size() != sizeof(handover::Ticket)) co_return strange("no ticket");
  co_return Admission{.socket = text_of(said, "socket"), .ticket = std::move(*ticket)};
}

rt::Task<LocalObjectPtr> LocalShards::fetch(const Admission& admission) {
  auto stream = io::connect_unix(shard_, admission.socket);
  if (!stream) {
    if (stream.error().code() == Errc::busy) co_return fail(std::move(stream).error());
    co_return out_of_reach(stream.error());
  }
  io::Watchdog::Watch watch(watchdog_, **stream);
  watch.allow(options_.patience);
  co_return co_await exchange(**stream, admission.ticket);
}

void LocalShards::keep(const std::string& name, const LocalObjectPtr& object) {
  if (object->descriptors() > options_.descriptors_max || by_name_.contains(name)) return;
  while (descriptors_ + object->descriptors() > options_.descriptors_max) {
    descriptors_ -= kept_.back().object->descriptors();
    by_name_.erase(kept_.back().name);
    kept_.pop_back();
  }
  kept_.push_front({.name = name, .object = object});
  by_name_.emplace(name, kept_.begin());
  descriptors_ += object->descriptors();
}

}  // namespace leat::local
