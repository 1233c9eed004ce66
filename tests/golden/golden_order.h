// The vectors of order_version 1 (tests/golden/order-1.txt), computed: docs/formats/order.md.
#pragma once

#include <string>

namespace leat::golden {

std::string make_order_vectors();

}  // namespace leat::golden
