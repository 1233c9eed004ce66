// The gate before the XML parser: what pugixml would pass over in silence is refused here, on the
// raw bytes, so that everything behind it works on plain, small, harmless documents.
//
// Refused: document types and all that comes with them (entities, external subsets), processing
// instructions, an XML declaration that is not at the start, entity references but the five of XML,
// references to NUL and to what is no code point, raw control characters, anything that is not
// UTF-8 (abuse cases 41 and 42).
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace leat::xml {

// Requires: `text` has no byte order mark.
// Errors: bad_request, too_large (more than `elements_max` start tags).
Status check_gate(std::string_view text, std::size_t elements_max);

}  // namespace leat::xml
