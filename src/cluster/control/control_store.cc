#include "control/control_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace leat::control {
namespace {

Status check_key(std::string_view key) {
  if (key.empty()) return fail(Errc::bad_request, "a key of the control store has no bytes");
  if (key.size() <= kKeyMax) return {};
  return fail(
      Errc::too_large,
      fmt::format("a key of the control store has {} bytes; {} is the most", key.size(), kKeyMax));
}

Status check_branch(const std::vector<Operation>& operations, std::size_t& bytes) {
  if (operations.size() > kTxnPartsMax) {
    return fail(Errc::too_large, fmt::format("a transaction of {} operations; {} are the most",
                                             operations.size(), kTxnPartsMax));
  }
  std::set<std::string_view> changed;
  for (const Operation& one : operations) {
    LEAT_DO(check_key(one.key));
    if (one.value.size() > kValueMax) {
      return fail(Errc::too_large,
                  fmt::format("'{}' would have {} bytes in the control store; {} are the most. "
                              "Store it as an object and keep its name here",
                              one.key, one.value.size(), kValueMax));
    }
    if (one.kind != Operation::Kind::get && !changed.insert(one.key).second) {
      return fail(Errc::bad_request, fmt::format("a transaction changes '{}' twice", one.key));
    }
    bytes += one.key.size() + one.value.size();
  }
  return {};
}

}  // namespace

Status check_limits(const Txn& txn) {
  if (txn.when.size() > kTxnPartsMax) {
    return fail(Errc::too_large, fmt::format("a transaction of {} conditions; {} are the most",
                                             txn.when.size(), kTxnPartsMax));
  }
  std::size_t bytes = 0;
  for (const Condition& one : txn.when) {
    LEAT_DO(check_key(one.key));
    bytes += one.key.size() + one.bytes.size();
  }
  LEAT_DO(check_branch(txn.then, bytes));
  LEAT_DO(check_branch(txn.otherwise, bytes));
  if (bytes <= kTxnBytesMax) return {};
  return fail(Errc::too_large,
              fmt::format("a transaction of {} bytes; {} are the most", bytes, kTxnBytesMax));
}

Duration granted_ttl(Duration ttl) {
  return std::clamp<Duration>(std::chrono::ceil<std::chrono::seconds>(std::min(ttl, kLeaseMax)),
                              kLeaseMin, kLeaseMax);
}

std::optional<std::string> prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (end.ends_with('\xff'))
    end.pop_back();
  if (end.empty()) return std::nullopt;
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace leat::control
