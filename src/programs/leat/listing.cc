#include "leat/listing.h"
#include "leat/harmless.h"
#include "leat/json_text.h"
#include "leat/say.h"
#include "leat/table.h"
#include "s3client/answers.h"

namespace leat::programs {
namespace {

nlohmann::json json_of(const Row& row) {
  nlohmann::json item = {{"type", row.type}, {"name", row.name}};
  if (row.size_bytes) item["size"] = *row.size_bytes;
  if (row.modified) item["modified"] = s3client::iso_time(*row.modified);
  if (!row.etag.empty()) item["etag"] = row.etag;
  return item;
}

}  // namespace

Listing::Listing(const Session& session)
    : as_json_(session.wants_json()),
      only_names_(session.is_quiet()),
      is_aligned_(session.invocation.stdout_is_terminal),
      has_long_(session.arguments.has("--long")) {}

void Listing::add(const Row& row) {
  const bool is_first = count_++ == 0;
  if (as_json_) {
    say("{}{}", is_first ? "[\n" : ",\n", json_text(json_of(row)));
    return;
  }
  const std::string name = is_aligned_ ? harmless(row.name) : row.name;
  if (only_names_) {
    say("{}\n", name);
    return;
  }
  const std::string time = row.modified ? s3client::iso_time(*row.modified) : "-";
  if (is_aligned_) {
    const std::string size = row.size_bytes ? human_bytes(*row.size_bytes) : "-";
    say("{:>10}  {:20}  {}{}\n", size, time, has_long_ ? fmt::format("{:34}  ", row.etag) : "",
        name);
  } else {
    const std::string size = row.size_bytes ? std::to_string(*row.size_bytes) : "-";
    say("{}\t{}\t{}{}\n", size, time, has_long_ ? row.etag + "\t" : "", name);
  }
}

void Listing::end() {
  if (as_json_) say("{}", count_ == 0 ? "[]\n" : "\n]\n");
}

}  // namespace leat::programs
