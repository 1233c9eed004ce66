#include "transfer/compare.h"

#include "base/check.h"

namespace leat::transfer {
namespace {

// Two objects of one whole second share that time; with milliseconds they do not.
bool is_exact(WallTime time) {
  return time != std::chrono::floor<std::chrono::seconds>(time);
}

// True if times alone prove that the target was made from this source.
bool times_agree(const Entry& source, const Entry& target, Direction direction) {
  switch (direction) {
    // An object that is newer than the file may have been made from another one.
    case Direction::up: return false;
    // A download gives its file the time that its object was listed with; a file that was written
    // since has another one.
    case Direction::down: return is_exact(source.modified) && source.modified == target.modified;
    // Copies on a service are newer than what they are copies of; ETags must agree as well.
    case Direction::between:
      return source.etag == target.etag && source.modified <= target.modified;
  }
  LEAT_CHECK(false);
}

}  // namespace

Verdict judge(const Entry* source, const Entry* target, const Rules& rules) {
  LEAT_CHECK(source != nullptr || target != nullptr);
  if (source == nullptr) return rules.remove_extra ? Verdict::remove : Verdict::leave;
  if (target == nullptr || rules.force) return Verdict::send;
  if (source->size_bytes != target->size_bytes) return Verdict::send;
  if (rules.by_content) return Verdict::compare;
  return times_agree(*source, *target, rules.direction) ? Verdict::skip : Verdict::compare;
}

}  // namespace leat::transfer
