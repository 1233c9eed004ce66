// The subcommands, one function each. What they do is in their --help.
#pragma once

#include "leat/command.h"

namespace leat::programs {

Exit run_serve(const Invocation& invocation);
Exit run_share(const Invocation& invocation);
Exit run_disk(const Invocation& invocation);
Exit run_key(const Invocation& invocation);
Exit run_env(const Invocation& invocation);
Exit run_fsck(const Invocation& invocation);
Exit run_config(const Invocation& invocation);
Exit run_version(const Invocation& invocation);
Exit run_help(const Invocation& invocation);

}  // namespace leat::programs
