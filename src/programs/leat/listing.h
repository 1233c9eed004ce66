// Rows for people, for programs and for scripts: a table on a terminal, tabs in a pipe, JSON when
// asked for, bare names with --quiet.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "leat/client_session.h"

namespace leat::programs {

struct Row {
  std::string type{};  // "bucket", "object", "prefix"
  std::string name{};
  std::optional<std::uint64_t> size_bytes{};
  std::optional<WallTime> modified{};
  std::string etag{};
};

// Prints rows as they come; with --json they are one array.
class Listing {
 public:
  explicit Listing(const Session& session);
  void add(const Row& row);
  // Once, after the last row.
  void end();
  std::uint64_t count() const { return count_; }

 private:
  bool as_json_;
  bool only_names_;
  bool is_aligned_;
  bool has_long_;
  std::uint64_t count_ = 0;
};

}  // namespace leat::programs
