#include "http/operation.h"

#include <array>

#include "base/check.h"

namespace leat::http {
namespace {

// Who may do what, as a set of kinds.
struct Access {
  bool anonymous;
  bool same_machine;
  bool admin_token;
};

constexpr Access kEverybody{true, true, true};
constexpr Access kOperators{false, true, true};
// A proxy on this machine that adds no field of its own cannot be told from a person on it: what
// destroys is for those who prove that they may.
constexpr Access kTokenHolders{false, false, true};

Access access_to(Operation operation) {
  switch (operation) {
    case Operation::health:
    case Operation::ready:
    case Operation::version: return kEverybody;
    case Operation::metrics: return kOperators;
    // `leat share` is a choice to show a folder to whoever reaches the address it listens on;
    // writing is a second choice, and without it these two have no route.
    case Operation::read_file: return kEverybody;
    case Operation::write_file:
    case Operation::delete_file:
    case Operation::list_buckets:
    case Operation::create_bucket:
    case Operation::remove_bucket:
    case Operation::list_objects:
    case Operation::read_object:
    case Operation::write_object:
    case Operation::remove_object:
    case Operation::change_object:
    case Operation::add_disk:
    case Operation::remove_disk: return kTokenHolders;
    case Operation::list_disks: return kOperators;
  }
  LEAT_CHECK(false);
}

}  // namespace

bool permits(Operation operation, AuthKind kind) {
  const Access access = access_to(operation);
  switch (kind) {
    case AuthKind::anonymous: return access.anonymous;
    case AuthKind::same_machine: return access.same_machine;
    case AuthKind::admin_token: return access.admin_token;
  }
  LEAT_CHECK(false);
}

std::string_view name_of(Operation operation) {
  static constexpr std::array<std::string_view, kOperationCount> kNames = {
#define LEAT_X(name) #name,
      LEAT_OPERATIONS(LEAT_X)
#undef LEAT_X
  };
  return kNames[static_cast<std::size_t>(operation)];
}

std::string_view name_of(AuthKind kind) {
  switch (kind) {
    case AuthKind::anonymous: return "anonymous";
    case AuthKind::same_machine: return "same_machine";
    case AuthKind::admin_token: return "admin_token";
  }
  LEAT_CHECK(false);
}

}  // namespace leat::http
