#include "support/answers.h"

#include <algorithm>
#include <cstdlib>

namespace leat::testing {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

// Takes a chunked body off the front of `bytes`; false if it is not there as a whole.
bool take_chunks(std::string_view& bytes, std::string& body) {
  while (true) {
    const std::size_t line_end = bytes.find("\r\n");
    if (line_end == bytes.npos) return false;
    const std::size_t size =
        std::strtoull(std::string(bytes.substr(0, line_end)).c_str(), nullptr, 16);
    bytes.remove_prefix(line_end + 2);
    if (bytes.size() < size + 2 || bytes.substr(size, 2) != "\r\n") return false;
    body.append(bytes.substr(0, size));
    bytes.remove_prefix(size + 2);
    if (size == 0) return true;
  }
}

bool take_body(std::string_view& bytes, Answer& answer) {
  if (answer.field("transfer-encoding") == "chunked") return take_chunks(bytes, answer.body);
  const std::size_t size = std::strtoull(answer.field("content-length").c_str(), nullptr, 10);
  if (bytes.size() < size) return false;
  answer.body = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

std::string Answer::field(std::string_view name) const {
  const std::string all = lower(head);
  const std::size_t at = all.find("\r\n" + lower(name) + ": ");
  if (at == all.npos) return "(none)";
  const std::size_t begin = at + 2 + name.size() + 2;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

std::string Answers::statuses() const {
  std::string text;
  for (const Answer& answer : whole) {
    text += (text.empty() ? "" : " ") + std::to_string(answer.status);
  }
  return text;
}

Answers split_answers(std::string_view bytes, std::string_view bodiless) {
  Answers answers;
  while (true) {
    answers.rest = bytes;
    const std::size_t end = bytes.find("\r\n\r\n");
    if (!bytes.starts_with("HTTP/1.1 ") || end == bytes.npos) return answers;
    Answer answer{.head = std::string(bytes.substr(0, end + 4)), .body = {}};
    answer.status = std::atoi(answer.head.substr(9, 3).c_str());
    bytes.remove_prefix(end + 4);
    const bool interim = answer.status < 200;
    const bool to_head = !interim && bodiless.starts_with('H');
    if (!interim) bodiless.remove_prefix(std::min<std::size_t>(1, bodiless.size()));
    const bool has_body = !interim && !to_head && answer.status != 204 && answer.status != 304;
    if (has_body && !take_body(bytes, answer)) return answers;
    answers.whole.push_back(std::move(answer));
  }
}

}  // namespace leat::testing
