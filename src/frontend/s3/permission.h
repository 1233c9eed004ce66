// Whether a caller may do something: the bucket's policy, the rules of the key, and ACLs, in that
// order (ADR 16).
//
//   operators' token       may all
//   the policy denies      no
//   the policy allows      yes, but for what administers the bucket
//   the key's rules allow  yes
//   the bucket is public   yes, to list it
//   the object is public   yes, to read it: known when it was found
//
// Shard: one.
#pragma once

#include <cstdint>

#include "access/action.h"
#include "http/operation.h"
#include "s3/call.h"

namespace leat::s3 {

enum class Grant : std::uint8_t {
  refused,
  if_public,  // if the object that is found says so
  allowed,
};

struct Wanted {
  access::Action action;
  std::string_view bucket;
  std::string_view key;  // of an object; of a listing, its prefix
};
Grant grant_of(const Call& call, const Wanted& wanted);

// To do something to an object, or to one version of it, which is an action of its own. Where no
// versions are kept the object is meant, and what is denied of it cannot be had by another name.
struct VersionActions {
  access::Action of_object;
  access::Action of_version;
};
Grant grant_of(const Call& call, VersionActions actions, bool is_version, const Target& target);

// The operation of a call: everything but what is about more than one key.
Grant grant_of(http::Operation operation, const Call& call);

// Whether this caller could delete anything in the bucket, by rules or a policy: reason enough to
// read a list of keys and to judge each.
bool may_delete_some(const Call& call);

}  // namespace leat::s3
