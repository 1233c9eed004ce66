// Options: the JSON text of options that functions of leat.h take.
//
//   LEAT_C_TRY(Options options, Options::parse(text, {"seed", "epoch"}));
//   LEAT_C_TRY(const std::uint64_t seed, options.number("seed", 0));
//
// A name that is not known is an error that says the nearest one; so is a value of another kind.
#pragma once

#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace leat::capi {

class Options {
 public:
  // `text`: NULL for none. Errors of all: bad_request.
  static Result<Options> parse(const char* text, std::span<const std::string_view> known);
  // What stands in another document. `where` is for messages.
  static Result<Options> of(const nlohmann::json& document, std::string_view where,
                            std::span<const std::string_view> known);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  Result<std::uint64_t> number(std::string_view name, std::uint64_t otherwise) const;
  Result<double> real(std::string_view name, double otherwise) const;
  Result<bool> flag(std::string_view name, bool otherwise) const;
  Result<std::string> text(std::string_view name, std::string_view otherwise) const;
  // One of some words; gives which.
  Result<std::size_t> word(std::string_view name, std::span<const std::string_view> words) const;
  Result<std::vector<std::string>> texts(std::string_view name) const;
  Result<std::vector<std::uint64_t>> numbers(std::string_view name) const;
  Result<std::vector<double>> reals(std::string_view name) const;
  // Nothing if it is not there; null counts as not there.
  const nlohmann::json* find(std::string_view name) const;

 private:
  Options(nlohmann::json document, std::string where)
      : document_(std::move(document)), where_(std::move(where)) {}

  std::unexpected<Error> wrong(std::string_view name, std::string_view wanted) const;

  nlohmann::json document_;
  std::string where_;  // "decode.jpg." before a name
};

}  // namespace leat::capi
