#include "fsck/fsck.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "leat/arguments.h"
#include "leat/data_directory.h"
#include "leat/node_client.h"
#include "leat/say.h"
#include "leat/settings.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::array kSwitches = {
    Switch{"--rebuild", "Make the index anew from segments and files; the old one is put aside."},
    Switch{"--accept-loss", "With --rebuild: pass over damaged records instead of refusing."},
    Switch{"--rebuild-datasets", "Have a running node find datasets whose pointers are lost."},
    Switch{"-n,--dry-run", "With --rebuild-datasets: say what would be found."},
    Switch{"--json", "One JSON document instead of text."},
};

constexpr std::string_view kEpilogue =
    "Looks at directories that no server runs on: reads and verifies everything they hold.\n"
    "Changes nothing without --rebuild. Exit codes: 0 clean, 8 damage was found, 6 a server runs\n"
    "on the directory.\n"
    "\n"
    "  leat fsck --rebuild-datasets [BUCKET…]\n"
    "\n"
    "is for a control store that was lost: the node at --listen finds the datasets of its buckets\n"
    "again, from their records or from their shards, and says what nobody knows any more. It "
    "needs\n"
    "the token: --token-file DIR/admin-token.";

void print_progress(const fsck::Report& report) {
  fmt::print(stderr, "\r  {} records, {} versions, {}   ", report.records, report.versions,
             human_bytes(report.bytes));
}

nlohmann::json to_json(const std::string& directory, const fsck::Report& report) {
  nlohmann::json findings = nlohmann::json::array();
  for (const fsck::Finding& finding : report.findings)
    findings.push_back({{"where", finding.where}, {"what", finding.what}});
  return {{"directory", directory},         {"clean", report.is_clean()},
          {"objects", report.objects},      {"versions", report.versions},
          {"bytes", report.bytes},          {"segments", report.segments},
          {"records", report.records},      {"files", report.files},
          {"orphan_files", report.orphans}, {"pending", report.pending},
          {"findings", std::move(findings)}};
}

void print_text(const std::string& directory, const fsck::Report& report) {
  say("{}: {} objects, {} versions, {} in {} segments and {} files\n", directory, report.objects,
      report.versions, human_bytes(report.bytes), report.segments, report.files);
  if (report.pending > 0) {
    say("  {} changes are not in the index yet: the process was killed, and the next `leat serve`\n"
        "  applies them. What is counted here is without them\n",
        report.pending);
  } else if (report.orphans > 0) {
    say("  {} files that no object names; the next `leat serve` removes them\n", report.orphans);
  }
  for (const fsck::Finding& finding : report.findings)
    say("  DAMAGED  {}: {}\n", finding.where, finding.what);
  say("  {}\n", report.is_clean() ? "clean" : "damage was found");
}

struct Tools {
  io::PosixDisk disk{};
  io::RealClock clock{};
  io::SystemRng rng{};
  volume::RecoveryTools recovery() { return {.disk = disk, .clock = clock, .rng = rng}; }
};

Status rebuild(Tools& tools, const std::string& directory, const Arguments& arguments) {
  const auto loss = arguments.has("--accept-loss") ? volume::Loss::accepted : volume::Loss::refused;
  auto rebuilt = fsck::rebuild(tools.recovery(), volume::Folders(directory), loss);
  if (!rebuilt && rebuilt.error().code() == Errc::corrupt) {
    return fail(Errc::corrupt,
                fmt::format("{}; --accept-loss rebuilds without the damaged records, but older "
                            "versions of their objects may come back",
                            rebuilt.error().detail()));
  }
  if (!rebuilt) return fail(std::move(rebuilt).error());
  if (arguments.has("--json")) return {};
  say("{}: index made of {} changes, {} objects\n", directory, rebuilt->changes, rebuilt->objects);
  if (!rebuilt->old_index.empty()) say("  the old one is {}\n", rebuilt->old_index);
  if (rebuilt->damaged_bytes > 0) {
    say("  {} bytes of damaged records were passed over\n", rebuilt->damaged_bytes);
  }
  for (const volume::LostFile& one : rebuilt->lost) {
    say("  {} ({} bytes) was put aside: of {}\n", one.path, one.size_bytes,
        one.owner.key.empty() ? "an unknown object" : fsck::name_of(one.owner));
  }
  return {};
}

void print_datasets(const nlohmann::json& datasets) {
  for (const nlohmann::json& one : datasets) {
    const std::string found_by = one.value("found_by", "");
    if (found_by == "removed") {
      say("{}: removed\n", one.value("dataset", ""));
    } else {
      say("{}@{}: {} samples, found by its {}\n", one.value("dataset", ""),
          one.value("version", std::uint64_t{0}), one.value("samples", std::uint64_t{0}), found_by);
    }
    for (const nlohmann::json& sentence : one.value("unknown", nlohmann::json::array()))
      say("  not known: {}\n", sentence.is_string() ? sentence.get<std::string>() : "");
  }
  if (datasets.empty()) say("every dataset that there are traces of has its pointer\n");
}

Status rebuild_datasets(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const NodeAddress node, find_node(invocation, arguments));
  std::vector<std::string> buckets = arguments.positionals;
  if (buckets.empty()) buckets.emplace_back();  // all of them
  nlohmann::json datasets = nlohmann::json::array();
  for (const std::string& bucket : buckets) {
    const nlohmann::json question = {{"bucket", bucket}, {"dry_run", arguments.has("--dry-run")}};
    LEAT_TRY(const std::string answer, ask_node(node, {.method = "POST",
                                                       .target = "/_/v1/datasets?rebuild",
                                                       .body = question.dump()}));
    const nlohmann::json document = nlohmann::json::parse(answer, nullptr, false);
    if (!document.is_object() || !document.contains("datasets")) {
      return fail(Errc::internal, "the node gave an answer that is none");
    }
    for (const nlohmann::json& one : document["datasets"])
      datasets.push_back(one);
  }
  if (arguments.has("--json")) {
    say("{}\n", nlohmann::json{{"datasets", datasets}}.dump(2));
  } else {
    print_datasets(datasets);
  }
  return {};
}

Status run(const Invocation& invocation, const Arguments& arguments) {
  if (arguments.has("--rebuild-datasets")) return rebuild_datasets(invocation, arguments);
  if (arguments.positionals.empty())
    return fail(Errc::bad_request, "which directory? leat fsck DIR");
  if (arguments.has("--rebuild") && arguments.has("--dry-run")) {
    return fail(Errc::bad_request,
                "--rebuild has no --dry-run: leave --rebuild out, and leat fsck looks and changes "
                "nothing");
  }
  Tools tools;
  const bool as_json = arguments.has("--json");
  nlohmann::json document = nlohmann::json::array();
  bool clean = true;
  for (const std::string& directory : arguments.positionals) {
    const volume::Folders folders(directory);
    if (!tools.disk.info(folders.identity()) && !tools.disk.info(folders.identity_copy())) {
      return fail(Errc::not_found, fmt::format("{} is no data directory of Leat", directory));
    }
    LEAT_TRY(const auto held, DataDirectory::take(tools.disk, directory));
    if (arguments.has("--rebuild")) LEAT_DO(rebuild(tools, directory, arguments));
    const bool shows_progress =
        invocation.stderr_is_terminal && invocation.can_redraw() && !as_json;
    const fsck::Tell tell = [shows_progress](const fsck::Report& report) {
      if (shows_progress) print_progress(report);
    };
    LEAT_TRY(const fsck::Report report, fsck::check(tools.recovery(), folders, tell));
    if (shows_progress) fmt::print(stderr, "\r\x1b[K");
    clean = clean && report.is_clean();
    if (as_json) {
      document.push_back(to_json(directory, report));
    } else {
      print_text(directory, report);
    }
  }
  if (as_json) {
    say("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  if (!clean) return fail(Errc::corrupt, "damage was found; leat fsck --help says what mends it");
  return {};
}

}  // namespace

Exit run_fsck(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("fsck"),
                        .positional = "DIR",
                        .positionals_min = 0,
                        .positionals_max = 64,
                        .switches = kSwitches,
                        .takes_settings = true,
                        .asks_node = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, run);
}

}  // namespace leat::programs
