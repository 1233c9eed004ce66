#include "snapshot/diff.h"

namespace leat::snapshot {
namespace {

// Compares samples of two snapshots, whose fields and shards have different numbers.
class Comparer {
 public:
  Comparer(const View& before, const View& after) : before_(before), after_(after) {
    for (const std::string& name : after.fields())
      ids_before_.push_back(before.catalog().field_id(name));
  }

  Result<std::optional<Difference>> compare(Row before_row, Row after_row) {
    LEAT_TRY(const Sample before, before_.sample(before_row));
    LEAT_TRY(const Sample after, after_.sample(after_row));
    if (!has_same_sizes(before, after)) return std::optional(Difference::changed);
    LEAT_TRY(const bool is_same_shard, is_same(before.shard, after.shard));
    const bool stays = is_same_shard && before.start == after.start && before.end == after.end &&
                       has_same_offsets(before, after);
    if (!stays) return std::optional(Difference::moved);
    return std::optional<Difference>();
  }

 private:
  std::optional<FieldPlace> field_before(const Sample& before, std::size_t id_after) const {
    const auto id = ids_before_[id_after];
    return id ? before.fields[*id] : std::nullopt;
  }

  bool has_same_sizes(const Sample& before, const Sample& after) const {
    std::size_t in_both = 0;
    for (std::size_t id = 0; id < after.fields.size(); ++id) {
      const auto old = field_before(before, id);
      if (old.has_value() != after.fields[id].has_value()) return false;
      if (old && old->size_bytes != after.fields[id]->size_bytes) return false;
      if (old) ++in_both;
    }
    std::size_t of_before = 0;
    for (const auto& field : before.fields)
      if (field) ++of_before;
    return in_both == of_before;
  }

  bool has_same_offsets(const Sample& before, const Sample& after) const {
    for (std::size_t id = 0; id < after.fields.size(); ++id)
      if (field_before(before, id) != after.fields[id]) return false;
    return true;
  }

  // Neighbours in the order of keys are often of the same shards.
  Result<bool> is_same(std::uint32_t before, std::uint32_t after) {
    if (last_ && last_before_ == before && last_after_ == after) return *last_;
    LEAT_TRY(const ShardEntry old_entry, before_.shard(before));
    LEAT_TRY(const ShardEntry new_entry, after_.shard(after));
    last_before_ = before;
    last_after_ = after;
    last_ = old_entry == new_entry;
    return *last_;
  }

  const View& before_;
  const View& after_;
  std::vector<std::optional<std::size_t>> ids_before_;
  std::optional<bool> last_;
  std::uint32_t last_before_ = 0;
  std::uint32_t last_after_ = 0;
};

}  // namespace

Status diff(const View& before, const View& after,
            const std::function<bool(const DiffEntry&)>& visit) {
  Comparer comparer(before, after);
  KeyCursor old_keys(before);
  KeyCursor new_keys(after);
  LEAT_TRY(bool has_old, old_keys.next());
  LEAT_TRY(bool has_new, new_keys.next());
  while (has_old || has_new) {
    const int order =
        has_old && has_new ? old_keys.key().compare(new_keys.key()) : (has_old ? -1 : 1);
    std::optional<DiffEntry> entry;
    if (order < 0) {
      entry = {Difference::removed, old_keys.key(), old_keys.row(), std::nullopt};
    } else if (order > 0) {
      entry = {Difference::added, new_keys.key(), std::nullopt, new_keys.row()};
    } else {
      LEAT_TRY(const auto found, comparer.compare(old_keys.row(), new_keys.row()));
      if (found) entry = {*found, old_keys.key(), old_keys.row(), new_keys.row()};
    }
    if (entry && !visit(*entry)) return {};
    if (order <= 0) {
      LEAT_TRY(has_old, old_keys.next());
    }
    if (order >= 0) {
      LEAT_TRY(has_new, new_keys.next());
    }
  }
  return {};
}

}  // namespace leat::snapshot
