// Catalog: what an ingest will pack, as a list in memory: members, grouped into samples, and where
// their bytes come from. About 80 bytes a file, so that ten million of them fit.
//
// Nothing is read to make one: names, sizes and times are enough to plan every byte of every shard
// (plan.h), and to notice later that a file is not the one that was planned with.
//
// Filled by one task, then shared read-only by all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat::ingest {

using GroupId = std::uint32_t;

// One member of a shard to be.
struct Member {
  std::uint64_t name_at = 0;  // in the catalog's text
  std::uint32_t name_bytes = 0;
  std::uint32_t origin = 0;
  std::uint64_t offset = 0;  // of its bytes in what it comes from
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_s = 0;
  std::int64_t changed_ns = 0;  // of the file: when it was last touched
};

// Members that stay together: a sample, or one file that is in none.
struct Group {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t label = 0;  // the class, or the folder or archive it comes from
  bool is_sample = true;
};

// A member to add.
struct NewItem {
  std::string_view name{};
  std::uint32_t origin = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_s = 0;
  std::int64_t changed_ns = 0;
};

class Catalog {
 public:
  enum class OriginKind : std::uint8_t {
    folder,   // the file's name is the member's, below this folder
    file,     // this very file
    archive,  // bytes of this file, which is checked as a whole
    text,     // bytes of the catalog itself
  };
  struct Origin {
    OriginKind kind = OriginKind::folder;
    std::string path{};
    // Of an archive: the version that was scanned.
    std::uint64_t size_bytes = 0;
    std::int64_t changed_ns = 0;
  };

  // The origin of text().
  static constexpr std::uint32_t kText = 0;

  Catalog();

  std::uint32_t add_origin(Origin origin);
  // Bytes that no file has; returns where they stand, as an offset of kText.
  std::uint64_t add_text(std::string_view text);
  // Members that are added next belong to this group.
  void begin_group(std::uint32_t label, bool is_sample);
  void add(const NewItem& item);
  // A member that every shard begins with.
  void set_preface(const NewItem& item);
  // Some keys stand in more than one group: they must not become neighbours.
  void set_has_repeated_keys() { has_repeated_keys_ = true; }

  std::size_t group_count() const { return groups_.size(); }
  const Group& group(GroupId id) const { return groups_[id]; }
  std::uint64_t member_count() const { return members_.size(); }
  const Member& member(std::uint64_t number) const { return members_[number]; }
  const std::optional<Member>& preface() const { return preface_; }
  const Origin& origin(std::uint32_t number) const { return origins_[number]; }
  bool has_repeated_keys() const { return has_repeated_keys_; }

  std::string_view name(const Member& member) const {
    return std::string_view(text_).substr(member.name_at, member.name_bytes);
  }
  std::string_view text(const Member& member) const {
    return std::string_view(text_).substr(member.offset, member.size_bytes);
  }
  // The file that has the member's bytes.
  std::string path(const Member& member) const;
  // The key of a sample; the name of a file that is in none.
  std::string_view key(const Group& group) const;

  std::uint64_t samples() const { return samples_; }
  std::uint64_t data_bytes() const { return data_bytes_; }  // of all members, without headers

 private:
  Member make(const NewItem& item);

  std::string text_;
  std::vector<Origin> origins_;
  std::vector<Member> members_;
  std::vector<Group> groups_;
  std::optional<Member> preface_;
  bool has_repeated_keys_ = false;
  std::uint64_t samples_ = 0;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace leat::ingest
