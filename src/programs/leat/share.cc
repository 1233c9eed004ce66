#include "share/share.h"

#include <fmt/format.h>

#include <array>

#include "admin/admin.h"
#include "leat/arguments.h"
#include "leat/server_process.h"
#include "leat/settings.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "leat/tls_setup.h"
#include "leat/token.h"
#include "leat/version.h"

namespace leat::programs {
namespace {

class ShareSite final : public Site {
 public:
  ShareSite(const ShardTools& tools, folder::FolderState& state, metrics::Registry& registry,
            bool writable, std::uint64_t put_max_bytes)
      : shard_(tools.shard),
        files_(state, tools.clock),
        router_(writable),
        read_(files_),
        write_(files_, {tools.shard, tools.file_io, tools.body_buffers, tools.rng}, put_max_bytes),
        delete_(files_),
        pages_(tools.draining, kVersion, registry) {}

  void start() override {
    shard_.spawn(files_.keep_swept(), [](const Status&) {});
  }

  void install(http::Dispatcher& dispatcher) override {
    pages_.install(dispatcher);
    dispatcher.add_router(router_);
    dispatcher.set_handler(http::Operation::read_file, read_);
    dispatcher.set_handler(http::Operation::write_file, write_);
    dispatcher.set_handler(http::Operation::delete_file, delete_);
  }

 private:
  rt::Shard& shard_;
  folder::Folder files_;
  share::ShareRouter router_;
  share::ReadFile read_;
  share::WriteFile write_;
  share::DeleteFile delete_;
  admin::AdminPages pages_;
};

constexpr std::array kSwitches = {
    Switch{"--writable",
           "Also take PUT and DELETE, with the token that is shown; durable when answered."},
};

constexpr std::string_view kEpilogue =
    "Serves every file below DIR at its own path, with ranges and ETags, for curl, browsers and\n"
    "webdataset:  wds.WebDataset(\"http://127.0.0.1:9000/train-{000000..000099}.tar\")\n"
    "Symbolic links that leave DIR are not followed. Nothing is written to DIR unless --writable.";

// The folder itself, locked while the result lives: the unfinished uploads in it are ours to
// remove.
Result<std::unique_ptr<io::File>> own_folder(io::Disk& disk, const std::string& path) {
  LEAT_TRY(auto folder, disk.open(".", io::OpenMode::read));
  const Status locked = folder->lock();
  if (locked) return folder;
  if (locked.error().code() != Errc::conflict) return fail(locked.error().clone());
  return fail(Errc::conflict, fmt::format("{} is shared --writable by another leat process", path));
}

// What stands for the token in a command line. One that came from a file is not repeated.
std::string write_hint(const config::Config& settings, const log::Secret& token) {
  const std::string& file = settings.text("token_file");
  return file.empty() ? std::string(token.reveal()) : fmt::format("$(cat {})", file);
}

void announce(const std::string& path, const std::string& url, const std::string& fingerprint,
              const std::string& token) {
  fmt::print("leat {} shares {} at {}{}\n", kVersion, path, url,
             token.empty() ? "" : " (writable)");
  if (!fingerprint.empty()) fmt::print("  certificate fingerprint (SHA-256)  {}\n", fingerprint);
  if (!token.empty()) {
    fmt::print("  write    curl -H \"Authorization: Bearer {}\" -T FILE {}/\n", token, url);
  }
  fmt::print("  ^C drains and stops.\n");
  std::fflush(stdout);
}

Status share(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  LEAT_TRY(const auto process, ServerProcess::make(settings, invocation));
  const std::string& path = arguments.positionals.front();
  const bool writable = arguments.has("--writable");
  LEAT_TRY(io::PosixDisk disk, io::PosixDisk::below(path));
  std::unique_ptr<io::File> owned;
  if (writable) {
    LEAT_TRY(owned, own_folder(disk, path));
    LEAT_DO(folder::Upload::clean(disk));
  }
  folder::FolderOptions options;
  options.files_max = folder::files_max_for(process->descriptors(), process->shards());
  folder::FolderState state(disk, process->pool(), options, [&](const Error& error) {
    process->logger().error("a sync has failed: the folder takes no more changes",
                            {{"folder", path}, {"error", error}});
  });
  process->metrics().gauge_callback("leat_folder_failed",
                                    "1 after a failed sync: the folder takes no more changes.", {},
                                    [&] { return state.is_failed() ? 1.0 : 0.0; });
  LEAT_TRY(const auto given, token_from_file(settings));
  const log::Secret token = given ? *given : log::Secret(fresh_token(process->rng()));
  const admin::TokenAuthenticator authenticator(token);
  LEAT_TRY(const auto tls, set_up_tls(settings, *process, nullptr));
  const ServerPlan plan{
      .settings = settings,
      .invocation = invocation,
      .authenticator = authenticator,
      .upgrade = tls.upgrade.get(),
      .make_site =
          [&](const ShardTools& tools) {
            return std::make_unique<ShareSite>(tools, state, process->metrics(), writable,
                                               settings.bytes("share.put_max_bytes"));
          },
      .announce =
          [&](const io::Address& address) {
            announce(path, tls.url(address), tls.fingerprint,
                     writable ? write_hint(settings, token) : "");
          },
  };
  return process->run(plan);
}

}  // namespace

Exit run_share(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("share"),
                        .positional = "DIR",
                        .positionals_min = 1,
                        .positionals_max = 1,
                        .switches = kSwitches,
                        .takes_settings = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, share);
}

}  // namespace leat::programs
