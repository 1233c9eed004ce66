// The settings of the servers, in one table: flags, environment, leat.toml and `leat config show`
// all follow from it (config/setting.h).
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "http/server_options.h"
#include "io/stream.h"
#include "leat/command.h"

namespace leat::programs {

std::span<const config::Setting> server_settings();

// Flags of the settings table that were given on the command line, as key and text.
using Flags = std::vector<std::pair<std::string, std::string>>;

// The effective settings: defaults < leat.toml < LEAT_* < flags. The file is the one LEAT_CONFIG or
// --config names, else ./leat.toml if it is there.
// Errors: bad_request with everything that is wrong; not_found for a file that was named.
Result<config::Config> load_settings(const Invocation& invocation, const Flags& flags);

// The whole text of a file that the settings name. Errors: not_found, denied, io.
Result<std::string> read_text(const std::string& path);

// Typed views of the settings.
Result<io::Address> listen_address(const config::Config& settings);
http::ServerOptions server_options(const config::Config& settings);

}  // namespace leat::programs
