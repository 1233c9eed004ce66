// Answer: the head of a response with its own copy of the text, so that it outlives the connection.
//
// Lifetime: the views of `head` point into `text`; it stays where it was made.
#pragma once

#include <string>
#include <string_view>

#include "http1/response_head.h"

namespace leat::httpclient {

struct Answer {
  std::string text;
  http1::ResponseHead head;

  Answer() = default;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  // Moves the views of `head` from the buffer it was parsed in to a copy of it.
  void own(std::string_view parsed) {
    const auto reason_at = static_cast<std::size_t>(head.reason.data() - parsed.data());
    text = parsed;
    head.headers.bind(text);
    head.reason = std::string_view(text).substr(reason_at, head.reason.size());
  }
};

}  // namespace leat::httpclient
