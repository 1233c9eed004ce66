// The token that proves an operator: `Authorization: Bearer …`.
//
// `leat serve` keeps one in its first data directory, `leat share` makes one for each run and shows
// it; with the setting `token_file` both take the one in that file.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "io/rng.h"
#include "log/field.h"

namespace leat::programs {

// 128 random bits as text.
std::string fresh_token(io::Rng& rng);

// The token in a file. White space around it is no part. Errors: not_found, denied, io; bad_request
// for one that is too short to be secret, or no token.
Result<log::Secret> read_token(const std::string& path);

// The token of the setting `token_file`; nothing if it is not set. Errors: as read_token().
Result<std::optional<log::Secret>> token_from_file(const config::Config& settings);

}  // namespace leat::programs
