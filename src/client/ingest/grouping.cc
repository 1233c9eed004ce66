#include "ingest/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "shard/sample_name.h"

namespace leat::ingest {
namespace {

constexpr std::size_t kNameMaxBytes = 4096;

NewItem item_of(const FoundFile& file) {
  return {.name = file.name,
          .origin = file.origin,
          .offset = file.offset,
          .size_bytes = file.size_bytes,
          .mtime_s = file.mtime_s,
          .changed_ns = file.changed_ns};
}

}  // namespace

std::string_view refusal_of_name(std::string_view name) {
  if (name.empty()) return "it has no name";
  if (name.size() > kNameMaxBytes) return "its name is longer than 4096 bytes";
  if (name.contains('\0')) return "its name has a zero byte";
  if (name.ends_with('/')) return "its name ends in a slash";
  if (name == "__leat__" || name.starts_with("__leat__/")) {
    return "names that begin with __leat__/ are Leat's own";
  }
  return {};
}

Result<FieldChoice> FieldChoice::parse(std::string_view text) {
  FieldChoice choice;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string field(text.substr(0, comma));
    const auto split = shard::split_name("key." + field);
    if (field.empty() || field.contains(' ') || !split || split->field != field) {
      return fail(
          Errc::bad_request,
          fmt::format("{:?} is no field; expected names such as jpg,cls in lower case", field));
    }
    choice.fields_.push_back(field);
    if (comma == text.size()) return choice;
    text.remove_prefix(comma + 1);
  }
}

bool FieldChoice::takes(std::string_view field) const {
  return fields_.empty() || std::ranges::find(fields_, field) != fields_.end();
}

// A file and what its name says.
struct Grouper::Named {
  const FoundFile* file = nullptr;
  std::string key{};
  std::string field{};
};

void Grouper::refuse(const FoundFile& file, Errc code, std::string why) {
  ++findings_.refused;
  const Member member{.origin = file.origin};
  std::string path = catalog_.path(member);
  if (catalog_.origin(file.origin).kind == Catalog::OriginKind::folder) path += file.name;
  complain_(path, Error(code, std::move(why)));
}

void Grouper::add(const std::vector<FoundFile>& files, std::uint32_t label) {
  std::vector<Named> samples;
  for (const FoundFile& file : files) {
    if (const auto why = refusal_of_name(file.name); !why.empty()) {
      refuse(file, Errc::bad_request, std::string(why));
      continue;
    }
    const auto split = shard::split_name(file.name);
    if (split) {
      samples.push_back({&file, std::string(split->key), split->field});
      continue;
    }
    if (!choice_.is_all()) {
      ++findings_.other_fields;
      continue;
    }
    ++findings_.files;
    ++findings_.without_field;
    catalog_.begin_group(label, /*is_sample=*/false);
    catalog_.add(item_of(file));
  }
  std::ranges::sort(samples, [](const Named& a, const Named& b) {
    return std::tie(a.key, a.field, a.file->name) < std::tie(b.key, b.field, b.file->name);
  });
  std::vector<Named> fields;
  for (Named& one : samples) {
    if (!fields.empty() && fields.front().key != one.key) add_sample(fields, label);
    fields.push_back(std::move(one));
  }
  if (!fields.empty()) add_sample(fields, label);
}

void Grouper::take_chosen(std::vector<Named>& fields) {
  const std::size_t others =
      std::erase_if(fields, [this](const Named& one) { return !choice_.takes(one.field); });
  findings_.other_fields += others;
  if (fields.empty()) ++findings_.without_any;
}

void Grouper::add_sample(std::vector<Named>& fields, std::uint32_t label) {
  take_chosen(fields);
  std::vector<Named> kept;
  for (Named& one : fields) {
    const bool is_class = !class_text_.empty() && one.field == "cls";
    const bool is_twice = !kept.empty() && kept.back().field == one.field;
    if (is_class) {
      refuse(*one.file, Errc::conflict, "the field cls is made of the folder's name");
    } else if (is_twice) {
      refuse(*one.file, Errc::conflict,
             fmt::format("the sample has the field {} already, from {}", one.field,
                         kept.back().file->name));
    } else {
      kept.push_back(std::move(one));
    }
  }
  fields.clear();
  if (kept.empty()) return;
  findings_.files += kept.size();
  catalog_.begin_group(label, /*is_sample=*/true);
  std::optional<NewItem> of_class;
  std::string class_name;
  if (!class_text_.empty() && choice_.takes("cls")) {
    class_name = kept.front().key + ".cls";
    of_class = NewItem{.name = class_name,
                       .origin = Catalog::kText,
                       .offset = catalog_.add_text(class_text_),
                       .size_bytes = class_text_.size(),
                       .mtime_s = kept.front().file->mtime_s};
  }
  for (const Named& one : kept) {
    if (of_class && one.field > "cls") {
      catalog_.add(*of_class);
      of_class.reset();
    }
    catalog_.add(item_of(*one.file));
  }
  if (of_class) catalog_.add(*of_class);
}

}  // namespace leat::ingest
