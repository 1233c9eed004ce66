// Several: a command for many names. What fails is told, and the rest is done all the same.
//
//   Several several(session, names.size());
//   for (name : names) several.ended(name, co_await one(session, name));
//   co_return several.exit();
//
// Shard: one. Lifetime: the session outlives it.
#pragma once

#include <optional>
#include <string>

#include "leat/client_session.h"

namespace leat::programs {

class Several {
 public:
  // `has_lines`: with --json each failure is a line of it.
  Several(const Session& session, std::size_t count, bool has_lines = true)
      : session_(session), is_alone_(count == 1), has_lines_(has_lines) {}

  // What is no error but not Exit::done was told already.
  void ended(const std::string& name, Result<Exit> outcome);
  // Exit::partly if some worked, else what the first failure says. Errors: the only name's.
  Result<Exit> exit();

 private:
  void tell(const std::string& name, const Error& error) const;

  const Session& session_;
  bool is_alone_;
  bool has_lines_;
  bool has_done_some_ = false;
  std::optional<Exit> first_failure_;
  std::optional<Error> error_;  // of the only name
};

}  // namespace leat::programs
