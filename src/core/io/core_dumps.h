// Whether a crash of this process leaves a core file.
#pragma once

#include "base/result.h"

namespace leat::io {

// A core file of a server would hold its secrets and what its clients store: there is none from now
// on. Programs that take cores from the kernel by a pipe are told the same limit, and keep to it.
// Errors: io.
Status forbid_core_dumps();

}  // namespace leat::io
