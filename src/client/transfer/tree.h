// Tree: a whole folder or prefix on its way to another one, as jobs for a crew.
#pragma once

#include <functional>

#include "transfer/crew.h"
#include "transfer/entries.h"
#include "transfer/location.h"

namespace leat::transfer {

struct Tree {
  Location source{};  // a folder, or all objects below a prefix
  Location target{};
  Rules rules{};                // the direction follows from source and target
  NameFilter filter{};          // of both sides: what it does not take is neither sent nor removed
  s3client::Content content{};  // of put; without a type it is guessed from each name
  bool remove_source = false;
  bool is_dry = false;
  // Told of what can become no job: a file that cannot be looked at, a key that is no file name.
  std::function<void(const std::string& name, const Error& error)> complain{};
  // Told of what needs no job, because it is there.
  std::function<void(const Entry& entry)> skipped{};
  // Told how much was not removed, because some of the source could not be looked at.
  std::function<void(std::uint64_t count)> kept{};
  // Told that the source has nothing; without it that is an error.
  std::function<void(const Error& error)> found_nothing{};
  // Takes a target; false if it is taken already. Without it no two sources share a target.
  std::function<bool(const std::string& target)> claim{};
};

// Errors: conflict, when another source goes to the same target: what came second would win.
Status claim(const Tree& tree, const std::string& target);

// Compares both sides and adds a job for each difference.
// Requires: source and target are no streams, and one of them at least is an object.
// An object whose key ends in '/' stands for a folder: on its way to files it becomes one, if it
// has no bytes; from files to objects it is none of their business and stays. Lifetime: crew and
// tools outlive the task. Errors: bad_request, when one is inside the other; not_found, when there
// is nothing to send; what listing says; closed, when the crew has given up.
rt::Task<void> add_tree(Tools& tools, Crew& crew, Tree tree);

// One file or object, which was looked at. Errors: as add_tree().
struct Single {
  Location source{};
  Location target{};
  std::uint64_t size_bytes = 0;
  std::string etag{};   // of an object
  WallTime modified{};  // of an object, if a listing told it
};
Job single_job(const Single& single, const Tree& how);

}  // namespace leat::transfer
