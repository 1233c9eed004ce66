// NodeClient: one question to a node that runs, for subcommands that look after it.
//
// The node is the one at --listen, else the one that all commands talk to (--endpoint,
// LEAT_ENDPOINT, a profile, what `leat env` set), else the one that the configuration of the server
// describes; where nobody says anything, the only one that this user runs here, by its own token.
// The token is otherwise the one of the setting `token_file`.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "leat/arguments.h"
#include "leat/command.h"
#include "log/field.h"
#include "s3client/endpoint.h"

namespace leat::programs {

struct Question {
  std::string method;
  std::string target;
  std::string body{};
};

struct NodeAddress {
  s3client::Endpoint endpoint{};
  std::string ca_file{};  // for https; empty: the system's
  std::optional<log::Secret> token{};
};

// Errors: bad_request; those of the token's file.
Result<NodeAddress> find_node(const Invocation& invocation, const Arguments& arguments);

// The body of a good answer. Errors: what the node said, in its own words; unavailable, when nobody
// answers there.
Result<std::string> ask_node(const NodeAddress& node, Question question);

}  // namespace leat::programs
