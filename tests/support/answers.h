// Answers: what came back on a connection, taken apart by a reader that shares no code with the
// server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leat::testing {

struct Answer {
  int status = 0;
  std::string head;  // all of it, with the empty line
  std::string body;  // without chunk framing

  // The value of a field by its name, in any case; "(none)" without one.
  std::string field(std::string_view name) const;
};

struct Answers {
  std::vector<Answer> whole;
  std::string rest;  // bytes that are not a whole answer

  // "200 404": for a look at all of them.
  std::string statuses() const;
};

// `bodiless` has one letter for each answer but interim ones: 'H' for an answer to HEAD, '.' for
// others; what is missing is '.'.
Answers split_answers(std::string_view bytes, std::string_view bodiless = "");

}  // namespace leat::testing
