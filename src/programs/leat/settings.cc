#include "leat/settings.h"

#include <array>

#include "io/disk.h"
#include "leat/client_settings.h"

namespace leat::programs {
namespace {

using config::Kind;
using config::Setting;

constexpr std::string_view kDefaultFile = "leat.toml";

constexpr std::array kSettings = {
    Setting{"listen", Kind::text, "127.0.0.1:9000", "Address and port to serve on."},
    Setting{"cores", Kind::integer, "0", "Cores to use; 0 takes all the process may use."},
    Setting{
        "tls", Kind::text, "off",
        "off; auto (makes a certificate and prints its fingerprint); files (tls_cert, tls_key)."},
    Setting{"tls_cert", Kind::text, "", "PEM file with the certificate chain, for --tls files."},
    Setting{"tls_key", Kind::text, "", "PEM file with the private key, for --tls files."},
    Setting{"token_file", Kind::text, "",
            "File with the token of operators; without it one is made at the start."},
    Setting{"io", Kind::text, "auto",
            "How files are read and written: auto, uring, or psync (pread/pwrite on threads)."},
    Setting{"io_threads", Kind::integer, "4", "Threads for file-system calls that block."},
    Setting{"log_level", Kind::text, "info", "debug, info, warn or error."},
    Setting{"log_format", Kind::text, "auto", "auto (text on a terminal), text or json."},
    Setting{"core_dumps", Kind::boolean, "false",
            "Whether a crash may leave a core file, which holds keys and data."},
    Setting{"drain_timeout", Kind::duration, "30s",
            "How long requests in flight may take to finish after SIGTERM."},
    Setting{"http.connections_max", Kind::integer, "20000", "Open connections per core."},
    Setting{"http.head_max_bytes", Kind::bytes, "32KiB", "Largest request head; at most 60KiB."},
    Setting{"http.target_max_bytes", Kind::bytes, "16KiB", "Longest request target."},
    Setting{"http.fields_max", Kind::integer, "100", "Most header fields; at most 128."},
    Setting{"http.idle_timeout", Kind::duration, "75s", "How long a connection may sit idle."},
    Setting{"http.head_timeout", Kind::duration, "10s", "How long a request head may take."},
    Setting{"http.body_grace", Kind::duration, "30s",
            "How long a client may keep us waiting during one body; its bytes earn it back."},
    Setting{"http.body_rate_min", Kind::bytes, "16KiB",
            "The slowest rate accepted for bodies, per second."},
    Setting{"share.put_max_bytes", Kind::bytes, "5TiB", "Largest file that a PUT may bring."},
    Setting{"s3.region", Kind::text, "leat",
            "The region that S3 clients sign with; us-east-1 is taken as well."},
    Setting{"s3.domain", Kind::text, "",
            "With s3.example, buckets are also hosts: photos.s3.example."},
    Setting{"s3.require_signed_payload", Kind::boolean, "false",
            "Refuses bodies that no signature covers on connections without TLS."},
    Setting{"s3.lifecycle_day", Kind::duration, "24h",
            "The day of lifecycle rules; shorter ones are for trying rules out."},
    Setting{"store.small_max_bytes", Kind::bytes, "1MiB",
            "Objects up to this size are packed into segments; at most 4MiB."},
    Setting{"store.group_window", Kind::duration, "20ms",
            "durability=group: how long a write may be in memory only."},
    Setting{"store.relaxed_window", Kind::duration, "5s",
            "durability=relaxed: the same, but long enough that syncs do not count."},
    Setting{"store.full_percent", Kind::integer, "95",
            "A disk filled to this takes no more data until it is 2 below."},
    Setting{"store.index_cache_bytes", Kind::bytes, "128MiB", "Memory per disk for its index."},
    Setting{"store.lookup_cache_bytes", Kind::bytes, "128MiB",
            "Memory over all cores that remembers where objects are; 0 for none."},
    Setting{"store.pinned_max_bytes", Kind::bytes, "2GiB",
            "Large objects that are kept verified in memory, to be sent without a copy."},
    Setting{"store.shard_index_bytes", Kind::bytes, "128MiB",
            "Memory per core for the indexes of shards that are in use."},
    Setting{"store.compact_rate_bytes", Kind::bytes, "64MiB",
            "Bytes per second and disk that compaction reads and writes; 0 for no limit."},
    Setting{"store.scrub_rate_bytes", Kind::bytes, "32MiB",
            "Bytes per second and disk that a scrub reads; 0 for none."},
    Setting{"store.scrub_pause", Kind::duration, "24h", "Between the scrubs of a disk."},
    Setting{"local.socket", Kind::text, "auto",
            "Where clients of this machine get open files: auto, off, a path or @NAME."},
    Setting{"buffers_max_bytes", Kind::bytes, "128MiB",
            "Memory per core for bodies that pass through the process."},
};

}  // namespace

Result<std::string> read_text(const std::string& path) {
  io::PosixDisk disk;
  return io::read_text(disk, path);
}

std::span<const Setting> server_settings() {
  return kSettings;
}

Result<config::Config> load_settings(const Invocation& invocation, const Flags& flags) {
  config::Sources sources;
  sources.environment = invocation.environment;
  sources.reserved = {"LEAT_CONFIG"};
  for (const std::string_view name : client_variables())
    sources.reserved.emplace_back(name);
  std::string named;
  if (const auto found = invocation.environment.find("LEAT_CONFIG");
      found != invocation.environment.end()) {
    named = found->second;
  }
  for (const auto& [key, text] : flags) {
    if (key == "config") {
      named = text;
    } else {
      sources.flags.emplace_back(key, text);
    }
  }
  sources.toml_name = named.empty() ? std::string(kDefaultFile) : named;
  auto text = read_text(sources.toml_name);
  if (text) {
    sources.toml_text = std::move(*text);
  } else if (!named.empty() || text.error().code() != Errc::not_found) {
    return fail(std::move(text).error());
  }
  return config::load(kSettings, sources);
}

Result<io::Address> listen_address(const config::Config& settings) {
  auto address = io::Address::parse(settings.text("listen"));
  if (address) return address;
  return fail(Errc::bad_request,
              "listen: " + std::string(address.error().detail()) + "; such as 127.0.0.1:9000");
}

http::ServerOptions server_options(const config::Config& settings) {
  http::ServerOptions options;
  options.head.head_max_bytes = settings.bytes("http.head_max_bytes");
  options.head.target_max_bytes = settings.bytes("http.target_max_bytes");
  options.head.fields_max = static_cast<std::size_t>(settings.integer("http.fields_max"));
  options.connections_max = static_cast<std::size_t>(settings.integer("http.connections_max"));
  options.idle_timeout = settings.duration("http.idle_timeout");
  options.head_timeout = settings.duration("http.head_timeout");
  options.body_grace = settings.duration("http.body_grace");
  options.body_rate_min_bytes = settings.bytes("http.body_rate_min");
  return options;
}

}  // namespace leat::programs
