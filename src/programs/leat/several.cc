#include "leat/several.h"

#include "leat/harmless.h"
#include "leat/json_text.h"
#include "leat/say.h"

namespace leat::programs {

void Several::tell(const std::string& name, const Error& error) const {
  const std::string_view reason =
      error.detail().empty() ? traits(error.code()).name : error.detail();
  if (session_.wants_json() && has_lines_) {
    say("{}\n", json_text({{"type", "error"},
                           {"item", name},
                           {"error", traits(error.code()).name},
                           {"message", reason}}));
  }
  // Most reasons begin with the name of what they are about.
  const bool says_name = reason.starts_with(name);
  fmt::print(stderr, "leat: {}\n",
             harmless(says_name ? std::string(reason) : fmt::format("{}: {}", name, reason)));
}

void Several::ended(const std::string& name, Result<Exit> outcome) {
  const bool is_done = outcome && *outcome == Exit::done;
  const bool is_partly = outcome && *outcome == Exit::partly;
  has_done_some_ = has_done_some_ || is_done || is_partly;
  if (is_done) return;
  if (!first_failure_) first_failure_ = outcome ? *outcome : exit_for(outcome.error().code());
  if (outcome) return;
  if (is_alone_) {
    error_ = std::move(outcome).error();
  } else {
    tell(name, outcome.error());
  }
}

Result<Exit> Several::exit() {
  if (error_) return fail(std::move(*error_));
  if (!first_failure_) return Exit::done;
  return has_done_some_ ? Exit::partly : *first_failure_;
}

}  // namespace leat::programs
