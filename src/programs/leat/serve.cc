#include <fmt/format.h>

#include <array>

#include "admin/admin.h"
#include "leat/arguments.h"
#include "leat/data_directory.h"
#include "leat/node_control.h"
#include "leat/node_desk.h"
#include "leat/node_file.h"
#include "leat/node_store.h"
#include "leat/running_nodes.h"
#include "leat/server_process.h"
#include "leat/settings.h"
#include "leat/shell_text.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "leat/tls_setup.h"
#include "leat/token.h"
#include "leat/version.h"
#include "native/native.h"
#include "s3/s3.h"
#include "training/training.h"

namespace leat::programs {
namespace {

// What all shards share.
struct NodeParts {
  ServerProcess& process;
  NodeStore& store;
  NodeControl& control;
  NodeDesk& desk;
  keys::KeyStore& keys;
  const http::Authenticator& token;
  std::uint64_t indexes_max_bytes;
  s3::S3Options s3;
};

// The keys of a shard are there before what uses them.
const keys::ShardKeys& add_keys(const ShardTools& tools, keys::KeyStore& keys) {
  keys.add(tools.shard, tools.pool);
  return keys.on(tools.shard);
}

class StoreSite final : public Site {
 public:
  StoreSite(const ShardTools& tools, const NodeParts& node)
      : pages_(tools.draining, kVersion, node.process.metrics()),
        indexes_(node.store.on(tools.shard), node.indexes_max_bytes),
        s3_({.store = node.store.on(tools.shard),
             .indexes = indexes_,
             .keys = add_keys(tools, node.keys),
             .token = node.token,
             .clock = tools.clock,
             .logger = node.process.logger(),
             .options = node.s3}),
        datasets_({.store = node.store.on(tools.shard),
                   .indexes = indexes_,
                   .control = node.control.desk()}),
        training_({.s3 = s3_.tools(), .datasets = datasets_, .desk = node.desk.desk()}),
        api_(node.store.on(tools.shard), node.store, node.keys, node.process.logger()) {}

  void install(http::Dispatcher& dispatcher) override {
    s3_.install(dispatcher);
    training_.install(dispatcher);
    pages_.install(dispatcher);
    api_.install(dispatcher);
  }

 private:
  admin::AdminPages pages_;
  shards::ShardIndexes indexes_;
  s3::S3Api s3_;
  datasets::Datasets datasets_;
  training::TrainingApi training_;
  native::NativeApi api_;
};

// The first key, this once.
void announce_key(const keys::Key& key, const std::string& directory) {
  fmt::print("  S3 key   {} {}\n", key.id, key.secret);
  fmt::print("           shown this once; it may do everything, and is kept in {}/keys.json\n",
             directory);
}

// The three commands that a newcomer needs.
void announce_next(const std::string& directory) {
  fmt::print("  next     eval \"$(leat env {})\"   # leat, aws and boto3 then find this node\n",
             shell_text(directory));
  fmt::print("           leat mb photos\n");
  fmt::print("           leat put ./pictures photos/train   # leat help lists the rest\n");
}

void announce(const std::vector<std::string>& directories, const std::string& url,
              const std::string& fingerprint, const std::string& token_file, io::Disk& disk) {
  fmt::print("leat {} serves {}\n", kVersion, url);
  if (!fingerprint.empty()) fmt::print("  certificate fingerprint (SHA-256)  {}\n", fingerprint);
  for (const std::string& directory : directories) {
    const auto space = disk.space(directory);
    const std::uint64_t free = space ? space->available_bytes : 0;
    fmt::print("  data     {}   {} free\n", directory, human_bytes(free));
  }
  fmt::print("  token    {}   for operators\n",
             token_file.empty() ? directories.front() + "/admin-token" : token_file);
}

// The certificate that clients of the node must trust.
std::string ca_file_of(const config::Config& settings, const Invocation& invocation,
                       const std::string& directory) {
  const std::string& tls = settings.text("tls");
  if (tls == "auto") return absolute_path(invocation, directory + "/tls.pem");
  return tls == "files" ? absolute_path(invocation, settings.text("tls_cert")) : "";
}

// Without the file the node serves as well; commands must then be told where it is.
std::unique_ptr<io::File> publish(ServerProcess& process, io::Disk& disk,
                                  const std::string& directory, const NodeFile& node) {
  auto file = publish_node(disk, directory, node);
  if (file) return std::move(*file);
  process.logger().warn("leat env will not find this node without --listen",
                        {{"error", file.error()}});
  return nullptr;
}

// Without the note `leat env` must be told the directory.
std::unique_ptr<NodeNote> leave_note(ServerProcess& process, io::Disk& disk,
                                     const Invocation& invocation, const std::string& directory) {
  const std::string state = state_folder(invocation);
  if (state.empty()) return nullptr;
  auto note = NodeNote::leave(disk, state, absolute_path(invocation, directory));
  if (note) return std::move(*note);
  process.logger().debug("leat env finds this node by its directory alone",
                         {{"error", note.error()}});
  return nullptr;
}

constexpr std::array kSwitches = {
    Switch{"--allow-missing", "Start although a disk of this node is not given: it is lost."},
};

constexpr std::string_view kEpilogue =
    "DIR is made if it is missing; give one per disk.\n"
    "Exit codes: 2 bad flags or settings, 5 a directory is not writable, 6 the address or a\n"
    "directory is in use, 0 after SIGTERM or ^C. See docs/reference/exit-codes.md.";

Status serve_node(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  LEAT_TRY(const auto process, ServerProcess::make(settings, invocation));
  io::PosixDisk disk;
  std::vector<DataDirectory> directories;
  for (const std::string& path : arguments.positionals) {
    LEAT_TRY(auto directory, DataDirectory::take(disk, path));
    directories.push_back(std::move(directory));
  }
  LEAT_TRY(const auto given, token_from_file(settings));
  LEAT_TRY(const log::Secret made, directories.front().admin_token(process->rng()));
  const log::Secret& token = given ? *given : made;
  const admin::TokenAuthenticator authenticator(token);
  LEAT_TRY(const auto tls, set_up_tls(settings, *process, &directories.front()));
  LEAT_TRY(NodeStoreOptions options, store_options(settings));
  if (arguments.has("--allow-missing")) options.missing = store::Store::Missing::accepted;
  NodeStore store(disk, options, process->logger(), process->metrics());
  LEAT_DO(store.recover(std::move(directories), process->clock(), process->rng()));
  // After the disks were found good: a key is shown once.
  keys::KeyStore keys(disk, process->rng(), arguments.positionals.front() + "/keys.json");
  const auto now = process->clock().wall_now().time_since_epoch();
  LEAT_TRY(const auto first_key,
           keys.open(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()));
  NodeControl control(disk, arguments.positionals.front());
  NodeDesk desk(settings.text("local.socket"), process->logger(), process->metrics());
  const NodeParts node{
      .process = *process,
      .store = store,
      .control = control,
      .desk = desk,
      .keys = keys,
      .token = authenticator,
      .indexes_max_bytes = settings.bytes("store.shard_index_bytes"),
      .s3 = {.region = settings.text("s3.region"),
             .domain = settings.text("s3.domain"),
             .day_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                           settings.duration("s3.lifecycle_day"))
                           .count(),
             .requires_signed_payload = settings.boolean("s3.require_signed_payload")}};
  const std::string ca_file = ca_file_of(settings, invocation, arguments.positionals.front());
  std::unique_ptr<io::File> published;
  std::unique_ptr<NodeNote> note;
  const ServerPlan plan{
      .settings = settings,
      .invocation = invocation,
      .authenticator = authenticator,
      .upgrade = tls.upgrade.get(),
      .foundations = {&store, &control, &desk},
      .make_site =
          [&](const ShardTools& tools) { return std::make_unique<StoreSite>(tools, node); },
      .announce =
          [&](const io::Address& address) {
            published = publish(*process, disk, arguments.positionals.front(),
                                {.url = tls.url(reachable(address)),
                                 .region = settings.text("s3.region"),
                                 .ca_file = ca_file});
            note = leave_note(*process, disk, invocation, arguments.positionals.front());
            announce(arguments.positionals, tls.url(address), tls.fingerprint,
                     settings.text("token_file"), disk);
            if (first_key) announce_key(*first_key, arguments.positionals.front());
            announce_next(arguments.positionals.front());
            fmt::print("  ^C drains and stops; it is safe at any time.\n");
            std::fflush(stdout);
          },
  };
  return process->run(plan);
}

Status serve(const Invocation& invocation, const Arguments& arguments) {
  Status served = serve_node(invocation, arguments);
  if (served || served.error().code() != Errc::no_space) return served;
  return fail(Errc::no_space,
              fmt::format("{}; a node needs some MiB to start: remove what is not Leat's from that "
                          "disk, start, and then remove objects or add a disk",
                          served.error().detail()));
}

}  // namespace

Exit run_serve(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("serve"),
                        .positional = "DIR",
                        .positionals_min = 1,
                        .positionals_max = 64,
                        .switches = kSwitches,
                        .takes_settings = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, serve);
}

}  // namespace leat::programs
