// The index of one shard: which members and samples a tar holds, and where their bytes stand.
//
// Leat keeps it beside every tar that it stores, and a shard that Leat writes carries the same
// bytes as its last member, `__leat__/index`, which stock WebDataset passes over. Fixed-width
// sections, so that a reader maps it and looks up names by binary search; nothing is parsed ahead.
//
// Bytes: docs/formats/shard_index.md. Shard: a Builder belongs to one; a View is a value that any
// number of readers may share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "tar/scanner.h"

namespace leat::shard {

constexpr std::string_view kIndexName = "__leat__/index";
constexpr std::uint32_t kIndexFormat = 1;
constexpr std::uint64_t kIndexMaxBytes = 64 * kMiB;

class Builder {
 public:
  // `index_max_bytes`: what the index may take at most; a builder that is_too_large() keeps
  // nothing.
  explicit Builder(std::uint64_t index_max_bytes = kIndexMaxBytes);

  // The next member, in the order of the archive.
  void add(const tar::Member& member);

  bool is_too_large() const { return is_too_large_; }
  std::uint64_t members() const { return members_.size(); }
  std::uint64_t samples() const { return samples_.size(); }
  std::uint64_t samples_with_duplicate_fields() const { return duplicates_; }
  // What is wrong with the samples, if anything: the first field that a sample has twice.
  const std::string& problem() const { return problem_; }
  // The length of what finish() returns.
  std::uint64_t index_bytes() const;

  // The index. `shard_bytes` is the size of the whole archive.
  // Requires: !is_too_large(); the members end within shard_bytes. Ensures: the builder is as new.
  std::string finish(std::uint64_t shard_bytes);

  // For who writes the archive: all that follows its last member, which ends at `start`: the index
  // as a member of itself, its padding, the end-of-archive blocks.
  // Requires: as finish(); `start` is a multiple of 512. Ensures: the builder is as new.
  std::string finish_archive(std::uint64_t start);

 private:
  struct MemberRow {
    std::uint64_t data_offset;
    std::uint64_t size_bytes;
    std::uint32_t name_at;
    std::uint32_t name_bytes;
    std::uint32_t header_bytes;
    std::uint32_t sample;
    std::uint32_t field;
    std::uint32_t kind;
  };
  struct SampleRow {
    std::uint32_t first_member;
    std::uint32_t member_count;
    std::uint32_t key_bytes;
    std::uint32_t flags;
  };
  struct FieldRow {
    std::uint32_t name_at;
    std::uint32_t name_bytes;
    std::uint32_t last_sample;  // the last one that has it
  };

  std::string_view text(std::uint32_t at, std::uint32_t bytes) const;
  std::string_view key_of(const SampleRow& sample) const;
  void append(const tar::Member& member);
  std::uint32_t field_id(std::string_view field);
  void add_to_sample(MemberRow& row, std::string_view name);
  void note_duplicate(SampleRow& sample, std::string_view name);
  std::vector<std::uint32_t> members_by_name() const;
  std::vector<std::uint32_t> samples_by_key() const;

  std::uint64_t index_max_bytes_;
  bool is_too_large_ = false;
  std::uint64_t duplicates_ = 0;
  std::string problem_;
  std::vector<MemberRow> members_;
  std::vector<SampleRow> samples_;
  std::vector<FieldRow> fields_;
  std::unordered_map<std::string, std::uint32_t> field_ids_;
  std::string heap_;  // names of members and fields
};

// Lifetime: the texts live as long as the bytes of the View.
struct MemberRef {
  std::string_view name;
  tar::Kind kind = tar::Kind::file;
  std::uint64_t start = 0;  // of its first header block
  std::uint64_t data_offset = 0;
  std::uint64_t size_bytes = 0;
  std::optional<std::uint32_t> field{};   // its number in fields; both or none of these two
  std::optional<std::uint32_t> sample{};  // its sample's number

  std::uint64_t end() const;  // where its padding ends
};

struct SampleRef {
  std::string_view key;
  // The members first_member … first_member + member_count - 1, those of them whose `sample` is
  // this one: members that WebDataset passes over may stand between.
  std::uint64_t first_member = 0;
  std::uint64_t member_count = 0;
  std::uint64_t start = 0;  // bytes of the archive, headers and padding included: [start, end)
  std::uint64_t end = 0;
  bool has_duplicate_fields = false;
};

// An index that was read. Lifetime: the bytes outlive it.
class View {
 public:
  // Errors: corrupt. Whatever the bytes are, no accessor of an open view leads outside of them.
  static Result<View> open(Bytes bytes);

  std::uint64_t shard_bytes() const;
  std::uint64_t member_count() const { return member_count_; }
  std::uint64_t sample_count() const { return sample_count_; }
  std::uint64_t field_count() const { return field_count_; }
  std::uint64_t samples_with_duplicate_fields() const;

  // Requires, of all three: the number is below the count.
  MemberRef member(std::uint64_t number) const;
  SampleRef sample(std::uint64_t number) const;
  std::string_view field(std::uint64_t number) const;
  std::vector<std::string_view> fields() const;  // in the order in which they first appear

  // The last member of that name, which is the one that tar leaves behind.
  std::optional<std::uint64_t> find_member(std::string_view name) const;
  // The first sample of that key.
  std::optional<std::uint64_t> find_sample(std::string_view key) const;
  // The number of a field, lower-cased.
  std::optional<std::uint32_t> find_field(std::string_view field) const;
  // The first member of a sample that is this field.
  std::optional<std::uint64_t> find_in_sample(std::uint64_t sample, std::uint32_t field) const;

 private:
  explicit View(Bytes bytes) : bytes_(bytes) {}

  bool take_header();
  bool has_sound_members() const;
  bool has_sound_samples() const;
  bool has_sound_rest() const;
  std::string_view text(std::uint64_t at, std::uint64_t size) const;
  std::uint64_t entry(std::uint64_t section_at, std::uint64_t place) const;  // of a sorted section
  std::string_view name(std::uint64_t member) const;
  std::string_view key(std::uint64_t sample) const;

  Bytes bytes_;
  std::uint64_t member_count_ = 0;
  std::uint64_t sample_count_ = 0;
  std::uint64_t field_count_ = 0;
  std::uint64_t heap_bytes_ = 0;
  // Where the sections begin.
  std::uint64_t samples_at_ = 0;
  std::uint64_t fields_at_ = 0;
  std::uint64_t by_name_at_ = 0;
  std::uint64_t by_key_at_ = 0;
  std::uint64_t heap_at_ = 0;
};

}  // namespace leat::shard
