// How the disks of the node are; adding and removing one.
#include <charconv>

#include "http1/uri.h"
#include "native/calls.h"
#include "native/json.h"
#include "record/identity.h"

namespace leat::native {
namespace {

using http::Response;
using nlohmann::json;

// How long those who use a disk may go on when it is removed.
constexpr Duration kPatience = std::chrono::seconds(30);
constexpr std::uint32_t kPatienceMaxMs = 600'000;

struct DiskState {
  std::string path{};
  volume::SpaceUse space{};
  std::string failure{};
  std::uint64_t replayed = 0;
  volume::ScrubProgress scrub{};
  std::vector<record::ObjectKey> quarantine{};
};

rt::Task<DiskState> state_of(volume::Volume& volume) {
  DiskState state{.path = volume.folders().root(),
                  .space = volume.space(),
                  .replayed = volume.opening().replayed,
                  .scrub = volume.scrubbed(),
                  .quarantine = volume.quarantine().objects()};
  if (volume.failure()) state.failure = volume.failure()->detail();
  co_return state;
}

std::string_view name_of_state(const DiskState& state) {
  if (!state.failure.empty()) return "failed";
  return state.space.is_full ? "full" : "ok";
}

// The objects that reads and scrubs found damaged, as BUCKET/KEY.
json damaged_in(const store::ShardStore& store, const std::vector<record::ObjectKey>& quarantine) {
  json names = json::array();
  for (const record::ObjectKey& object : quarantine) {
    const record::Bucket* bucket = store.buckets()->find(object.bucket);
    if (bucket != nullptr) names.push_back(bucket->name + '/' + object.key);
  }
  return names;
}

Result<Duration> patience_in(const http1::RequestHead& head) {
  constexpr std::string_view kName = "patience_ms=";
  if (head.query.empty()) return kPatience;
  const std::string_view query = head.query;
  if (!query.starts_with(kName)) return fail(Errc::bad_request, "the query is patience_ms=NUMBER");
  const std::string_view text = query.substr(kName.size());
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > kPatienceMaxMs) {
    return fail(Errc::bad_request, "patience_ms is a number of at most 600000");
  }
  return std::chrono::milliseconds(value);
}

Result<std::string> path_in(const std::string& text) {
  const json body = json::parse(text, nullptr, false);
  const bool is_right =
      body.is_object() && body.size() == 1 && body.contains("path") && body["path"].is_string();
  if (!is_right) return fail(Errc::bad_request, R"(the body is {"path": "/directory"})");
  auto path = body["path"].get<std::string>();
  if (!path.starts_with('/')) return fail(Errc::bad_request, "the path must begin with /");
  return path;
}

}  // namespace

Answer list_disks(store::ShardStore& store, http::Exchange& /*exchange*/) {
  json list = json::array();
  const std::vector<store::DoorPtr> doors = store.doors();
  for (const store::DoorPtr& door : doors) {
    LEAT_CO_TRY(const auto inside, door->enter());
    auto asked =
        store.at_home<DiskState>(door, [](volume::Volume& volume) { return state_of(volume); });
    LEAT_CO_TRY(const DiskState state, co_await std::move(asked));
    list.push_back({{"path", state.path},
                    {"id", record::to_hex(door->id())},
                    {"state", name_of_state(state)},
                    {"error", state.failure},
                    {"total_bytes", state.space.total_bytes},
                    {"available_bytes", state.space.available_bytes},
                    {"replayed_changes", state.replayed},
                    {"damaged", damaged_in(store, state.quarantine)},
                    {"scrub",
                     {{"is_running", state.scrub.is_running},
                      {"objects", state.scrub.objects},
                      {"bytes", state.scrub.bytes},
                      {"damaged", state.scrub.damaged}}}});
  }
  const json answer = {{"disks", std::move(list)}};
  co_return json_answer(200, answer);
}

Answer add_disk(store::ShardStore& store, store::DiskKeeper& keeper, http::Exchange& exchange) {
  LEAT_CO_TRY(const std::string body, co_await read_text(exchange.body, kBodyMaxBytes));
  LEAT_CO_TRY(std::string path, path_in(body));
  LEAT_CO_TRY(const auto arrival, co_await keeper.add_disk(path, store.shard()));
  const json answer = {
      {"path", path}, {"doubles", arrival.doubles}, {"hidden_buckets", arrival.hidden_buckets}};
  co_return json_answer(201, answer);
}

Answer remove_disk(store::ShardStore& store, store::DiskKeeper& keeper, http::Exchange& exchange) {
  LEAT_CO_TRY(const Duration patience, patience_in(exchange.head));
  LEAT_CO_TRY(std::string name,
              http1::percent_decode(exchange.head.path.substr(kDisks.size() + 1)));
  LEAT_CO_DO(co_await keeper.remove_disk(std::move(name), patience, store.shard()));
  co_return Response(204);
}

}  // namespace leat::native
