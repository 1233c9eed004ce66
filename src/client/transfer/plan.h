// Plan: two trees side by side, and what must happen to make the second like the first.
#pragma once

#include <functional>

#include "rt/task.h"
#include "transfer/compare.h"
#include "transfer/entries.h"

namespace leat::transfer {

// Takes one difference; `entry` is the source's, or the target's if there is no source. May wait,
// which holds the plan back.
using Emit = std::function<rt::Task<void>(Verdict verdict, Entry entry)>;

// Reads both in step, in memory that does not grow with them.
// Requires: both in the order of their names. Lifetime: all arguments outlive the task.
rt::Task<void> plan(EntrySource& source, EntrySource& target, const Rules& rules, const Emit& emit);

}  // namespace leat::transfer
