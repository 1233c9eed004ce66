// NodeClient: one question to a node that runs, for subcommands that look after it.
//
// The address is the setting `listen`, the token the one of `token_file`: on the node's own machine
// the configuration of the server is all that a command needs.
#pragma once

#include <string>

#include "config/config.h"

namespace leat::programs {

struct Question {
  std::string method;
  std::string target;
  std::string body{};
};

// The body of a good answer. Errors: what the node said, in its own words; unavailable, when nobody
// answers there; not_implemented, for a node with TLS.
Result<std::string> ask_node(const config::Config& settings, Question question);

}  // namespace leat::programs
