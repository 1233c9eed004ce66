#include "load/load_options.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

#include <CLI/CLI.hpp>

#include "load/die.h"

namespace leat::benchmarks {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) die("http_load: cannot read {}", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Records are "HEADBYTES BODYBYTES\n", the head, the body.
std::vector<RecordedRequest> read_recorded(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<RecordedRequest> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_end = text.find('\n', at);
    if (line_end == std::string::npos) die("http_load: {} is cut", path);
    std::size_t head_bytes = 0;
    std::size_t body_bytes = 0;
    const char* const end = text.data() + line_end;
    const auto head = std::from_chars(text.data() + at, end, head_bytes);
    if (head.ec != std::errc{} || head.ptr == end) die("http_load: {} has a bad line", path);
    const auto body = std::from_chars(head.ptr + 1, end, body_bytes);
    if (body.ec != std::errc{} || body.ptr != end) die("http_load: {} has a bad line", path);
    at = line_end + 1;
    if (head_bytes > text.size() - at || body_bytes > text.size() - at - head_bytes) {
      die("http_load: {} is cut", path);
    }
    all.push_back(
        {.head = text.substr(at, head_bytes), .body = text.substr(at + head_bytes, body_bytes)});
    at += head_bytes + body_bytes;
  }
  return all;
}

void check(const LoadOptions& options) {
  if ((options.seconds > 0) == (options.requests > 0)) {
    die("http_load: give either --seconds or --requests");
  }
  if (options.requests > 0 && options.warmup_seconds > 0) {
    die("http_load: --warmup goes with --seconds only");
  }
  if (options.put && options.body_bytes == 0) die("http_load: PUT needs --body-bytes");
  if (options.paths.empty() == options.recorded.empty()) {
    die("http_load: give either --path, --paths-file or --recorded");
  }
  if (options.objects > 0 && options.paths.size() != 1) {
    die("http_load: --objects goes with one path");
  }
}

}  // namespace

LoadOptions parse_options(int argc, char** argv) {
  LoadOptions options;
  std::string method = "GET";
  std::string paths_file;
  std::string recorded_file;
  std::string body_file;
  CLI::App app("keep-alive HTTP/1.1 load from one thread");
  app.add_option("--host", options.host, "IPv4 address");
  app.add_option("--port", options.port)->required();
  app.add_option("--connections", options.connections)->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "length of the measured window");
  app.add_option("--warmup", options.warmup_seconds, "seconds before the window");
  app.add_option("--requests", options.requests, "measure so many requests instead of a window");
  app.add_option("--method", method)->check(CLI::IsMember({"GET", "PUT"}));
  app.add_option("--path", options.paths, "may be repeated");
  app.add_option("--paths-file", paths_file, "one path a line")->check(CLI::ExistingFile);
  app.add_option("--recorded", recorded_file, "whole requests: \"HEADBYTES BODYBYTES\\n\", bytes")
      ->check(CLI::ExistingFile);
  app.add_flag("--random", options.random, "choose requests at random instead of in turn");
  app.add_option("--seed", options.seed);
  app.add_option("--body-bytes", options.body_bytes, "size of each PUT");
  app.add_option("--body-file", body_file, "its bytes, repeated")->check(CLI::ExistingFile);
  app.add_option("--field", options.field, "a header field of each request");
  app.add_option("--objects", options.objects,
                 "so many objects: 00123/456 for number 123456 is added to the one path");
  app.add_option("--expect-bytes", options.expect_bytes, "size each answer's body must have");
  app.add_option("--probe-path", options.probe_path, "small object the probe asks for");
  app.add_option("--probe-interval-ms", options.probe_interval_ms)->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  options.put = method == "PUT";
  if (!recorded_file.empty()) options.recorded = read_recorded(recorded_file);
  if (!body_file.empty()) options.body = read_file(body_file);
  std::ifstream listed(paths_file);
  for (std::string path; std::getline(listed, path);)
    options.paths.push_back(path);
  check(options);
  return options;
}

}  // namespace leat::benchmarks
