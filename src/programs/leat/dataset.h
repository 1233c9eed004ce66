// The verbs of `leat dataset`: a table like that of the subcommands, and what they share.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http1/uri.h"
#include "leat/client_session.h"
#include "leat/command.h"

namespace leat::programs {

// Named "dataset put" and so on, for usage and help.
std::span<const Command> dataset_verbs();
// Requires: there is such a verb. `name` is the whole: "dataset put".
const Command& find_verb(std::string_view name);

// One each; what they do is in their --help.
Exit run_dataset_put(const Invocation& invocation);
Exit run_dataset_append(const Invocation& invocation);
Exit run_dataset_get(const Invocation& invocation);
Exit run_dataset_info(const Invocation& invocation);
Exit run_dataset_ls(const Invocation& invocation);
Exit run_dataset_head(const Invocation& invocation);
Exit run_dataset_log(const Invocation& invocation);
Exit run_dataset_diff(const Invocation& invocation);
Exit run_dataset_lint(const Invocation& invocation);
Exit run_dataset_create(const Invocation& invocation);
Exit run_dataset_commit(const Invocation& invocation);
Exit run_dataset_adopt(const Invocation& invocation);
Exit run_dataset_tag(const Invocation& invocation);
Exit run_dataset_restore(const Invocation& invocation);
Exit run_dataset_vacuum(const Invocation& invocation);
Exit run_dataset_rm(const Invocation& invocation);

// A call about a dataset and its answer; `dataset` may have "@REF" behind it.
// Errors: what the service says; not_implemented, when it knows no datasets.
rt::Task<nlohmann::json> ask_dataset(Session& session, std::string method, std::string dataset,
                                     std::vector<http1::QueryPair> query = {},
                                     nlohmann::json body = nullptr);

// For a terminal: nothing in it steers one.
std::string shown_name(const Session& session, const std::string& name);
// "2026-11-17T19:00:00Z"
std::string time_text(std::int64_t ms);

}  // namespace leat::programs
