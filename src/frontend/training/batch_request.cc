#include "training/batch_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "training/json_size.h"

namespace leat::training {
namespace {

using nlohmann::json;
using shards::BatchItem;

constexpr std::size_t kDatasetsMax = 16;

class Parser {
 public:
  Result<ParsedBatch> parse(std::string_view text) {
    LEAT_DO(check_json_size(text, kValuesMax));
    const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!document.is_object()) return fail(Errc::bad_request, "the body is no JSON object");
    LEAT_DO(take_options(document));
    const auto items = document.find("items");
    if (items == document.end() || !items->is_array()) {
      return fail(Errc::bad_request, "\"items\" is missing or no list");
    }
    if (items->size() > kItemsMax) {
      return fail(Errc::bad_request,
                  fmt::format("{} items are too many: {} at most", items->size(), kItemsMax));
    }
    batch_.request.items.reserve(items->size());
    for (const json& one : *items) {
      auto item = take_item(one);
      if (!item) {
        return fail(item.error().code(),
                    fmt::format("item {}: {}", batch_.request.items.size(), item.error().detail()));
      }
      batch_.request.items.push_back(std::move(*item));
    }
    return std::move(batch_);
  }

 private:
  Status take_options(const json& document) {
    for (const auto& [name, value] : document.items()) {
      if (name == "items") continue;
      if (name == "on_error") {
        if (value != "fail" && value != "skip") {
          return fail(Errc::bad_request, "\"on_error\" is \"fail\" or \"skip\"");
        }
        batch_.on_error = value == "fail" ? OnError::fail : OnError::skip;
      } else if (name == "format") {
        if (value != "frames" && value != "tar") {
          return fail(Errc::bad_request, "\"format\" is \"frames\" or \"tar\"");
        }
        batch_.format = value == "frames" ? Format::frames : Format::tar;
      } else if (name == "object") {
        LEAT_TRY(object_, object_in(value));
      } else if (name == "dataset") {
        LEAT_TRY(dataset_, dataset_in(value));
      } else if (name == "fields") {
        LEAT_TRY(fields_, fields_in(value));
      } else {
        return fail(Errc::bad_request, fmt::format("\"{}\" is not known", name));
      }
    }
    if (object_ && dataset_) {
      return fail(Errc::bad_request,
                  "both an \"object\" and a \"dataset\" for items that name none");
    }
    return {};
  }

  // What an item says, before it is judged as a whole.
  struct Said {
    std::optional<std::uint32_t> object{};
    std::optional<std::uint32_t> dataset{};
    std::optional<std::uint64_t> row{};
    bool has_fields = false;
  };

  Result<BatchItem> take_item(const json& one) {
    if (!one.is_object()) return fail(Errc::bad_request, "no JSON object");
    BatchItem item{.fields = fields_};
    Said said;
    for (const auto& [name, value] : one.items())
      LEAT_DO(take_word(item, said, name, value));
    const bool is_sample = item.what == BatchItem::What::sample;
    if (said.object && said.dataset) {
      return fail(Errc::bad_request, "both an object and a dataset");
    }
    if (!said.object && !said.dataset) {
      said.object = object_;
      said.dataset = dataset_;
    }
    if (said.has_fields && !is_sample && !said.row) {
      return fail(Errc::bad_request, "only a sample has fields");
    }
    if (item.range && (is_sample || said.row))
      return fail(Errc::bad_request, "a sample has no range");
    if (said.row && (is_sample || item.what == BatchItem::What::member || !said.dataset)) {
      return fail(Errc::bad_request, "a row is of a dataset, and instead of a name");
    }
    if (said.dataset) {
      if (!is_sample && !said.row) {
        return fail(Errc::bad_request, "of a dataset a \"sample\" or a \"row\" is wanted");
      }
      batch_.of_datasets.push_back(
          {.item = batch_.request.items.size(), .dataset = *said.dataset, .row = said.row});
      return item;
    }
    if (!said.object) return fail(Errc::bad_request, "\"object\" is missing: \"BUCKET/KEY\"");
    item.object = *said.object;
    return item;
  }

  Status take_word(BatchItem& item, Said& said, const std::string& name, const json& value) {
    if (name == "object") {
      LEAT_TRY(said.object, object_in(value));
    } else if (name == "dataset") {
      LEAT_TRY(said.dataset, dataset_in(value));
    } else if (name == "row") {
      if (!value.is_number_unsigned()) return fail(Errc::bad_request, "\"row\" is no number");
      said.row = value.get<std::uint64_t>();
    } else if (name == "member" || name == "sample") {
      if (!value.is_string())
        return fail(Errc::bad_request, fmt::format("\"{}\" is no text", name));
      if (item.what != BatchItem::What::object) {
        return fail(Errc::bad_request, "both a member and a sample");
      }
      item.what = name == "member" ? BatchItem::What::member : BatchItem::What::sample;
      item.name = value.get<std::string>();
    } else if (name == "fields") {
      LEAT_TRY(item.fields, fields_in(value));
      said.has_fields = true;
    } else if (name == "range") {
      LEAT_TRY(item.range, range_in(value));
    } else {
      return fail(Errc::bad_request, fmt::format("\"{}\" is not known", name));
    }
    return {};
  }

  Result<std::uint32_t> dataset_in(const json& value) {
    if (!value.is_string()) return fail(Errc::bad_request, "\"dataset\" is no text");
    LEAT_TRY(datasets::Reference reference,
             datasets::parse_reference(value.get_ref<const std::string&>()));
    auto& all = batch_.datasets;
    const auto known = std::ranges::find(all, reference);
    if (known != all.end()) return static_cast<std::uint32_t>(known - all.begin());
    if (all.size() == kDatasetsMax) return fail(Errc::bad_request, "too many datasets");
    all.push_back(std::move(reference));
    return static_cast<std::uint32_t>(all.size() - 1);
  }

  Result<std::uint32_t> object_in(const json& value) {
    if (!value.is_string()) return fail(Errc::bad_request, "\"object\" is no text");
    const auto& text = value.get_ref<const std::string&>();
    if (const auto known = objects_.find(text); known != objects_.end()) return known->second;
    const std::size_t slash = text.find('/');
    if (slash == text.npos || slash == 0 || slash + 1 == text.size()) {
      return fail(Errc::bad_request, "an object is named \"BUCKET/KEY\"");
    }
    auto& objects = batch_.request.objects;
    objects.push_back({.bucket = text.substr(0, slash), .key = text.substr(slash + 1)});
    const auto number = static_cast<std::uint32_t>(objects.size() - 1);
    objects_.emplace(text, number);
    return number;
  }

  Result<std::uint32_t> fields_in(const json& value) {
    std::vector<std::string> fields;
    if (!value.is_array()) return fail(Errc::bad_request, "\"fields\" is no list");
    for (const json& one : value) {
      if (!one.is_string()) return fail(Errc::bad_request, "a field is no text");
      if (fields.size() == kFieldsMax) {
        return fail(Errc::bad_request, fmt::format("more than {} fields", kFieldsMax));
      }
      fields.push_back(one.get<std::string>());
      if (std::ranges::find(fields, fields.back()) != fields.end() - 1) {
        return fail(Errc::bad_request, fmt::format("the field {:?} twice", fields.back()));
      }
    }
    auto& lists = batch_.request.field_lists;
    const auto [known, is_new] =
        field_lists_.try_emplace(fields, static_cast<std::uint32_t>(lists.size()));
    if (is_new) lists.push_back(std::move(fields));
    return known->second;
  }

  static Result<volume::ByteRange> range_in(const json& value) {
    const bool is_pair = value.is_array() && value.size() == 2 && value[0].is_number_unsigned() &&
                         value[1].is_number_unsigned();
    if (!is_pair) return fail(Errc::bad_request, "\"range\" is [offset, length]");
    return volume::ByteRange{.offset = value[0].get<std::uint64_t>(),
                             .length = value[1].get<std::uint64_t>()};
  }

  ParsedBatch batch_;
  std::optional<std::uint32_t> object_;   // of items that name none …
  std::optional<std::uint32_t> dataset_;  // … or this
  std::uint32_t fields_ = 0;
  std::unordered_map<std::string, std::uint32_t> objects_;
  std::map<std::vector<std::string>, std::uint32_t> field_lists_;
};

}  // namespace

Result<ParsedBatch> parse_batch(std::string_view text) {
  return Parser().parse(text);
}

}  // namespace leat::training
