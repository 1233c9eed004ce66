#include "s3error/s3error.h"

#include <array>

namespace leat::s3error {
namespace {

struct Row {
  int status;
  std::string_view text;
};

constexpr std::array kRows = {
#define LEAT_X(name, status, text) Row{status, text},
    LEAT_S3_CODES(LEAT_X)
#undef LEAT_X
};

}  // namespace

int http_status(S3Code code) {
  return kRows[static_cast<std::size_t>(code)].status;
}

std::string_view text_of(S3Code code) {
  return kRows[static_cast<std::size_t>(code)].text;
}

S3Error from_error(const Error& error) {
  const std::string_view wanted = traits(error.code()).s3_code;
  S3Code code = S3Code::internal_error;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].text == wanted) code = static_cast<S3Code>(i);
  }
  return {.code = code, .message = std::string(error.detail()), .details = {}};
}

}  // namespace leat::s3error
