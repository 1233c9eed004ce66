#include "transfer/compare.h"

#include "base/check.h"

namespace leat::transfer {
namespace {

// True if times alone prove that the target was made from this source.
bool times_agree(const Entry& source, const Entry& target, Direction direction) {
  switch (direction) {
    // The object was written after the file last changed in any way.
    case Direction::up: return source.changed + kTimeDoubt <= target.modified;
    // A download gives its file the time of the object, which services tell to the second; a file
    // that was written since has another one.
    case Direction::down:
      return target.modified == std::chrono::floor<std::chrono::seconds>(source.modified);
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
