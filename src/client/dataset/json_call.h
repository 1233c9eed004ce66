// Calls whose body and answer are JSON, and how an answer is read. Nothing here throws: a service
// that answers something else than was agreed is an error like others.
//
//   LEAT_CO_TRY(const json document, co_await call_json(client, std::move(call)));
//   AnswerReader answer(document);
//   const std::uint64_t version = answer.number("version");
//   LEAT_CO_DO(answer.status());
//
// Included by source files only: the library's header is heavy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "dataset/native.h"

namespace leat::dataset {

// An answer without a body is an empty object. Lifetime: the client outlives the task.
// Errors: bad_request, when a text in `body` is no UTF-8; io, when the answer is no JSON object;
// what the service says.
rt::Task<nlohmann::json> call_json(s3client::S3Client& client, NativeCall call,
                                   nlohmann::json body = nullptr);

// With U+FFFD where it is no UTF-8, for texts that people read.
std::string as_utf8(std::string_view text);

// The members of an object. One that is missing or is something else is zero or empty, and status()
// names the first such one. Lifetime: the document outlives it.
class AnswerReader {
 public:
  explicit AnswerReader(const nlohmann::json& document) : document_(document) {}

  std::uint64_t number(const std::string& name);
  std::string text(const std::string& name);
  // Bytes: as a text, or percent-encoded under NAME_encoded.
  std::string name(const std::string& name);
  const nlohmann::json& list(const std::string& name);
  const nlohmann::json& object(const std::string& name);
  // A list of texts.
  std::vector<std::string> texts(const std::string& name);

  // Errors: io.
  Status status() const;

 private:
  const nlohmann::json* find(const std::string& name) const;
  void note(const std::string& name, std::string_view kind);

  const nlohmann::json& document_;
  std::string problem_;
};

}  // namespace leat::dataset
