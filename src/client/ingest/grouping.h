// Grouping: files become samples by WebDataset's rules, and what breaks a rule is told, never
// dropped in silence. Pure.
//
//   a/1.jpg, a/1.json      one sample a/1 with the fields jpg and json
//   a/README               in no sample, kept as a plain member of a shard
//   a/1.jpg, a/1.JPG       the same field twice: the second one is refused
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "ingest/catalog.h"

namespace leat::ingest {

// What was seen, left out and refused. Left out is by rule; refused is a failure.
struct Findings {
  std::uint64_t files = 0;          // that are packed
  std::uint64_t hidden = 0;         // left out: a name that begins with a dot
  std::uint64_t special = 0;        // left out: pipes, sockets, devices
  std::uint64_t outside = 0;        // left out: files of an imagefolder that are in no class
  std::uint64_t excluded = 0;       // left out: files that no pattern chooses, or one excludes
  std::uint64_t empty_folders = 0;  // a tar of samples has no place for them
  std::uint64_t links = 0;          // followed
  std::uint64_t without_field = 0;  // packed, but in no sample
  std::uint64_t other_fields = 0;   // left out: files whose fields were not asked for
  std::uint64_t without_any = 0;    // left out: samples that have none of the fields asked for
  std::uint64_t repeated_keys = 0;  // of archives: packed as samples of their own
  std::uint64_t refused = 0;
};

// The fields that are packed; none named: all, and also files that are in no sample.
class FieldChoice {
 public:
  FieldChoice() = default;
  // "jpg,cls". Errors: bad_request.
  static Result<FieldChoice> parse(std::string_view text);

  bool is_all() const { return fields_.empty(); }
  bool takes(std::string_view field) const;

 private:
  std::vector<std::string> fields_;
};

using Complain = std::function<void(const std::string& path, const Error& error)>;

// A file with all that planning needs.
struct FoundFile {
  std::string name{};  // of the member
  std::uint32_t origin = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_s = 0;
  std::int64_t changed_ns = 0;
};

// Why no member can have this name; empty if one can.
std::string_view refusal_of_name(std::string_view name);

class Grouper {
 public:
  // Lifetime: all of it outlives the grouper.
  Grouper(Catalog& catalog, Findings& findings, const Complain& complain, const FieldChoice& choice)
      : catalog_(catalog), findings_(findings), complain_(complain), choice_(choice) {}

  // The field `cls` of all samples that follow; empty: none.
  void set_class(std::string text) { class_text_ = std::move(text); }

  // Adds the samples of these files; all files of a sample are among them, in any order.
  void add(const std::vector<FoundFile>& files, std::uint32_t label);

 private:
  struct Named;
  void take_chosen(std::vector<Named>& fields);
  void add_sample(std::vector<Named>& fields, std::uint32_t label);
  void refuse(const FoundFile& file, Errc code, std::string why);

  Catalog& catalog_;
  Findings& findings_;
  const Complain& complain_;
  const FieldChoice& choice_;
  std::string class_text_;
};

}  // namespace leat::ingest
