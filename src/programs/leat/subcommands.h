// The subcommands, one function each. What they do is in their --help.
#pragma once

#include "leat/command.h"

namespace leat::programs {

Exit run_put(const Invocation& invocation);
Exit run_get(const Invocation& invocation);
Exit run_cat(const Invocation& invocation);
Exit run_ls(const Invocation& invocation);
Exit run_stat(const Invocation& invocation);
Exit run_du(const Invocation& invocation);
Exit run_cp(const Invocation& invocation);
Exit run_mv(const Invocation& invocation);
Exit run_sync(const Invocation& invocation);
Exit run_rm(const Invocation& invocation);
Exit run_mb(const Invocation& invocation);
Exit run_rb(const Invocation& invocation);
Exit run_bucket(const Invocation& invocation);
Exit run_dataset(const Invocation& invocation);
Exit run_serve(const Invocation& invocation);
Exit run_top(const Invocation& invocation);
Exit run_share(const Invocation& invocation);
Exit run_disk(const Invocation& invocation);
Exit run_key(const Invocation& invocation);
Exit run_env(const Invocation& invocation);
Exit run_fsck(const Invocation& invocation);
Exit run_config(const Invocation& invocation);
Exit run_completion(const Invocation& invocation);
Exit run_complete(const Invocation& invocation);
Exit run_man(const Invocation& invocation);
Exit run_version(const Invocation& invocation);
Exit run_help(const Invocation& invocation);

}  // namespace leat::programs
