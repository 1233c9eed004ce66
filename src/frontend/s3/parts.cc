#include "s3/parts.h"

#include <fmt/format.h>

#include "http1/grammar.h"

namespace leat::s3 {
namespace {

// Calls `visit` with the size and the number of each run.
template <class Visit>
void for_each_run(std::string_view text, Visit visit) {
  http1::for_each_element(text, [&visit](std::string_view run) {
    const std::size_t star = std::min(run.find('*'), run.size());
    const std::uint64_t size = http1::parse_decimal(run.substr(0, star)).value_or(0);
    const std::string_view count = run.substr(std::min(star + 1, run.size()));
    visit(size, http1::parse_decimal(count).value_or(1));
  });
}

}  // namespace

std::string encode_parts(const std::vector<std::uint64_t>& sizes) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size();) {
    std::size_t end = i;
    while (end < sizes.size() && sizes[end] == sizes[i])
      ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(sizes[i]);
    if (end - i > 1) text += fmt::format("*{}", end - i);
    i = end;
  }
  return text;
}

std::uint64_t part_count(std::string_view text) {
  std::uint64_t total = 0;
  for_each_run(text, [&total](std::uint64_t /*size*/, std::uint64_t count) { total += count; });
  return total;
}

PartPlace part_place(std::string_view text, std::uint64_t number) {
  PartPlace place;
  std::uint64_t before = number - 1;  // parts still to pass
  bool is_found = false;
  for_each_run(text, [&](std::uint64_t size, std::uint64_t count) {
    if (is_found) return;
    const std::uint64_t passed = std::min(before, count);
    place.offset += passed * size;
    before -= passed;
    is_found = passed < count;
    place.length = size;
  });
  return place;
}

}  // namespace leat::s3
