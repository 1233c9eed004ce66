#include "leat/change.h"

#include <fmt/format.h>

#include "leat/harmless.h"
#include "leat/json_text.h"
#include "leat/say.h"

namespace leat::programs {

void tell(const Arguments& arguments, const Change& change, bool is_new) {
  const bool is_dry = arguments.has("--dry-run");
  if (arguments.has("--json")) {
    nlohmann::json line = change.more;
    line["type"] = change.type;
    line["action"] = change.action;
    line["status"] = !is_new ? "skipped" : is_dry ? "would" : "done";
    line["name"] = change.name;
    say("{}\n", json_text(line));
  } else if (is_dry) {
    if (is_new) {
      say("would {} {}\n", change.action,
          harmless(change.shown.empty() ? change.name : change.shown));
    }
  } else if (!arguments.has("--quiet")) {
    fmt::print(stderr, "{}\n", harmless(change.done));
  }
}

}  // namespace leat::programs
