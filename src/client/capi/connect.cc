// Sessions, and calls of the native API.
#include <array>

#include "capi/handles.h"
#include "capi/options.h"
#include "dataset/native.h"
#include "io/disk.h"

namespace leat::capi {
namespace {

constexpr std::array<std::string_view, 9> kKnown = {"endpoint",      "access_key", "secret_key",
                                                    "region",        "profile",    "ca_file",
                                                    "retry_seconds", "io_threads", "local"};
constexpr std::array<std::string_view, 6> kTexts = {"endpoint", "access_key", "secret_key",
                                                    "region",   "profile",    "ca_file"};
constexpr std::uint64_t kThreadsMax = 64;
constexpr std::uint64_t kRetryMaxSeconds = 7 * 24 * 3600;

Result<std::string> read_file(const std::string& path) {
  io::PosixDisk disk;
  return io::read_text(disk, path);
}

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text(*one);
    const std::size_t equals = text.find('=');
    if (equals == text.npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<std::shared_ptr<session::Session>> connect(const char* text) {
  LEAT_TRY(const Options options, Options::parse(text, kKnown));
  session::SettingSources sources{.environment = environment(), .read_text = read_file};
  for (const std::string_view name : kTexts) {
    LEAT_TRY(std::string value, options.text(name, ""));
    if (!value.empty()) sources.given.emplace(name, std::move(value));
  }
  LEAT_TRY(const bool is_local, options.flag("local", true));
  LEAT_TRY(const std::uint64_t threads, options.number("io_threads", 1));
  LEAT_TRY(const double seconds, options.real("retry_seconds", 30));
  if (threads == 0 || threads > kThreadsMax) {
    return fail(Errc::bad_request, "the option io_threads is 1 to 64");
  }
  if (!(seconds >= 0 && seconds <= kRetryMaxSeconds)) {
    return fail(Errc::bad_request, "the option retry_seconds is from 0 to a week");
  }
  LEAT_TRY(session::ServiceSettings settings, session::find_service(sources));
  const session::SessionOptions wanted{
      .io_threads = static_cast<std::uint32_t>(threads),
      .patience = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)),
      .uses_local_files = is_local};
  return session::Session::open(std::move(settings), wanted, read_file);
}

Outcome<std::string> call(session::Session& session, dataset::NativeCall call) {
  LEAT_C_TRY(std::string answer,
             session.run_long<std::string>([call = std::move(call)](s3client::S3Client& client) {
               return dataset::call_native(client, call);
             }));
  return answer;
}

}  // namespace
}  // namespace leat::capi

using namespace leat::capi;

extern "C" {

leat_status leat_connect(const char* options, leat_session** session, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto opened, connect(options));
    *session = new leat_session{std::move(opened), getpid()};
    return {};
  });
}

void leat_session_free(leat_session* session) {
  // What belongs to threads cannot be taken apart without them.
  if (session == nullptr || is_left_alone(session->owner)) return;
  delete session;
}

leat_status leat_call(leat_session* session, const char* method, const char* target,
                      const void* body, size_t body_size, leat_buffer** answer,
                      leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    LEAT_C_TRY(leat::dataset::NativeCall asked, leat::dataset::native_target(target));
    asked.method = method;
    if (body_size > 0) asked.body.assign(static_cast<const char*>(body), body_size);
    LEAT_C_TRY(std::string text, call(*opened, std::move(asked)));
    *answer = new_buffer(std::move(text));
    return {};
  });
}

}  // extern "C"
