// Handover: how a node gives the open files of an object to a client on its own machine, as bytes
// on a Unix socket (docs/formats/handover.md).
//
// The client sends a ticket; the node answers with a head, to whose first byte the descriptors are
// attached, and a body: how many bytes each file holds and the checksums of their blocks. What is
// cut or damaged is noticed.
//
//   node:   out = encode(Answer{…})        client: decode_head(), then decode()
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace leat::handover {

// Random, good once, for one version of an object.
using Ticket = std::array<std::byte, 16>;

constexpr std::size_t kHeadBytes = 32;
constexpr std::size_t kSumBytes = 4;
// As many descriptors as the kernel lets one message carry.
constexpr std::size_t kFilesMax = 253;
// An answer is at most this long: a bad length fills no memory.
constexpr std::uint64_t kBodyMaxBytes = 4 * kMiB;

// A file of an object. Its first bytes are the object's; what stands behind them is the node's.
struct FilePart {
  std::uint64_t size_bytes = 0;  // of the object, in this file
  std::string sums{};            // CRC32C of each 64 KiB of them, 4 bytes each, little-endian
  bool operator==(const FilePart&) const = default;
};

struct Answer {
  std::uint32_t status = 200;  // as HTTP has it
  std::vector<FilePart> files{};
  std::string message{};  // of another status than 200
  bool operator==(const Answer&) const = default;
};

struct Head {
  std::uint32_t status = 0;
  std::uint32_t files = 0;  // how many descriptors come with it
  std::uint64_t body_bytes = 0;
};

// Head and body. Requires: at most kFilesMax files, with the sums that their sizes ask for.
std::string encode(const Answer& answer);

// Errors: corrupt, also for what is longer than the bounds above.
Result<Head> decode_head(Bytes head);
// `whole`: head and body. Errors: corrupt.
Result<Answer> decode(Bytes whole);

}  // namespace leat::handover
