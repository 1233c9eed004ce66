// Fuzzes RequestParser. The first byte of the input chooses the limits and the sizes of the
// pieces, the rest is what a client sends. Checked of every input:
//   1. pieces of any size give the same answer as the whole at once, errors included;
//   2. no view of an accepted head holds a control byte, and no framing is ambiguous;
//   3. an accepted head, written again from its parts, parses to the same parts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http1/grammar.h"
#include "http1/head_writer.h"
#include "http1/request_head.h"

namespace {

using namespace leat;
using namespace leat::http1;

struct Answer {
  std::size_t size = 0;  // 0: more is needed, or it failed
  std::optional<Errc> error{};

  bool operator==(const Answer&) const = default;
};

Answer answer_of(const Result<std::size_t>& result) {
  if (!result) {
    LEAT_CHECK(!result.error().detail().empty());
    return {.error = result.error().code()};
  }
  return {.size = *result};
}

// Every second input meets limits that it can reach.
Limits limits_of(unsigned seed) {
  if (seed % 2 == 0) return {};
  return {.head_max_bytes = 256, .target_max_bytes = 64, .fields_max = 8};
}

Answer parse_whole(std::string_view text, unsigned seed, RequestHead& head) {
  RequestParser parser(limits_of(seed));
  return answer_of(parser.parse(text, head));
}

// Each piece arrives in a buffer of its own size at another address, so that a view kept from an
// earlier call would be a use after free.
Answer parse_in_pieces(std::string_view text, unsigned seed, std::string& buffer,
                       RequestHead& head) {
  RequestParser parser(limits_of(seed));
  std::size_t have = 0;
  Answer answer;
  while (have < text.size() && answer == Answer{}) {
    seed = seed * 1103515245 + 12345;
    have = std::min(text.size(), have + 1 + (seed >> 16) % 23);
    std::string moved(text.substr(0, have));
    buffer.swap(moved);
    answer = answer_of(parser.parse(buffer, head));
  }
  return answer;
}

bool same_parts(const RequestHead& a, const RequestHead& b) {
  bool same = a.method == b.method && a.method_text == b.method_text && a.target == b.target &&
              a.path == b.path && a.query == b.query && a.host == b.host &&
              a.version == b.version && a.content_length == b.content_length &&
              a.chunked == b.chunked && a.keep_alive == b.keep_alive &&
              a.expects_continue == b.expects_continue && a.headers.size() == b.headers.size();
  for (std::size_t i = 0; same && i < a.headers.size(); ++i) {
    same = a.headers[i].name == b.headers[i].name && a.headers[i].value == b.headers[i].value;
  }
  return same;
}

void check_clean(std::string_view view) {
  LEAT_CHECK(find_control(view, 0) == view.size());
}

void check_accepted(const RequestHead& head) {
  for (const std::string_view view :
       {head.method_text, head.target, head.path, head.query, head.host}) {
    check_clean(view);
    LEAT_CHECK(view.find(' ') == std::string_view::npos);
  }
  bool has_length = false;
  bool has_encoding = false;
  for (const HeaderField field : head.headers) {
    LEAT_CHECK(is_token(field.name));
    check_clean(field.value);
    LEAT_CHECK(trim_ows(field.value) == field.value);
    has_length |= equals_ignore_case(field.name, "content-length");
    has_encoding |= equals_ignore_case(field.name, "transfer-encoding");
    LEAT_CHECK(head.headers.find(field.name).has_value());
  }
  LEAT_CHECK(!(has_length && has_encoding));
  LEAT_CHECK(has_length == head.content_length.has_value() && has_encoding == head.chunked);
  LEAT_CHECK(head.version == Version::http10 || !head.host.empty());
}

void check_written_again(const RequestHead& head) {
  std::string out;
  RequestHeadWriter writer(out);
  LEAT_CHECK(writer.start(head.method_text, head.target).has_value());
  if (head.version == Version::http10) out[out.size() - 3] = '0';  // the writer speaks 1.1 alone
  for (const HeaderField field : head.headers) {
    LEAT_CHECK(writer.field(field.name, field.value).has_value());
  }
  writer.finish();
  Limits limits;
  limits.head_max_bytes = HeaderBlock::kTextMax;  // "a:b" grows by a space when it is written again
  RequestParser parser(limits);
  RequestHead again;
  const auto size = parser.parse(out, again);
  LEAT_CHECK(size.has_value() && *size == out.size());
  LEAT_CHECK(same_parts(head, again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy without anything behind it, so that the sanitizer sees the first byte read too far.
  const std::vector<char> copy(data + 1, data + size);
  const std::string_view text(copy.data(), copy.size());
  RequestHead whole;
  const Answer answer = parse_whole(text, data[0], whole);

  RequestHead pieced;
  std::string buffer;
  LEAT_CHECK(parse_in_pieces(text, data[0], buffer, pieced) == answer);
  if (answer.size == 0) return 0;
  LEAT_CHECK(answer.size <= text.size());
  LEAT_CHECK(same_parts(whole, pieced));
  check_accepted(whole);
  check_written_again(whole);
  return 0;
}
