// ChunkDecoder takes the aws-chunked framing off a body: sizes, signatures, trailers.
//
//   signed:    <hex>;chunk-signature=<64 hex>\r\n<data>\r\n … 0;chunk-signature=<64 hex>\r\n\r\n
//   unsigned:  <hex>\r\n<data>\r\n … 0\r\n<name>:<value>\r\n\r\n
//   signed with trailers: as signed, then trailers, then x-amz-trailer-signature:<64 hex>\r\n\r\n
//
// It is given the bytes of the body after HTTP's own framing and points at the payload inside them:
// nothing of it is copied, and memory is constant. The signature of a chunk is checked when the
// chunk ends, after its payload was handed out: nothing may become visible before finish() said so.
//
// Sizes never exceed what x-amz-decoded-content-length has left, so a hostile one costs nothing.
// Laxer than the grammar for minio-go alone: a trailer may end in LF, followed by an empty line.
//
// Shard: a decoder belongs to one request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "hash/digest.h"
#include "s3error/s3error.h"
#include "sigv4/payload.h"
#include "sigv4/signing_key.h"

namespace leat::s3body {

using s3error::refuse;
using s3error::S3Code;
using s3error::S3Error;
using s3error::S3Result;
using s3error::S3Status;

// What a request's head says about the framing of its body.
struct ChunkFraming {
  sigv4::PayloadKind kind = sigv4::PayloadKind::stream_unsigned_trailer;
  std::uint64_t decoded_size = 0;       // x-amz-decoded-content-length
  std::vector<std::string> trailers{};  // x-amz-trailer, in lower case
};

class ChunkDecoder {
 public:
  static constexpr std::size_t kChunkMinBytes = 8192;  // of all data chunks but the last
  static constexpr std::size_t kLineMaxBytes = 256;

  struct Step {
    std::size_t consumed = 0;  // bytes of the input that are done with
    Bytes payload{};           // inside the consumed input; may be empty
  };

  // Requires: framing.kind is a stream; `chain` is there if and only if its chunks are signed.
  ChunkDecoder(ChunkFraming framing, std::optional<sigv4::ChunkChain> chain);

  // Decodes up to and including the next piece of payload: all input was consumed, or there is
  // payload. A caller repeats with the rest.
  // Requires: no step after one that failed.
  // Errors: SignatureDoesNotMatch, IncompleteBody (more or fewer bytes than announced),
  // InvalidChunkSizeError, MalformedTrailerError, InvalidRequest (framing).
  S3Result<Step> step(Bytes input);

  // The HTTP body has ended: so must this one have.
  // Errors: IncompleteBody, InvalidRequest (half a line after its end).
  S3Status finish() const;

  // The announced trailers with their values. Requires: finish() succeeded.
  const std::vector<std::pair<std::string, std::string>>& trailers() const { return trailers_; }

 private:
  enum class State : std::uint8_t { chunk_head, data, data_end, trailers, ended };

  bool is_signed() const { return chain_.has_value(); }
  // Consumes up to one line; it is complete if it says so.
  struct LinePart {
    std::size_t consumed = 0;
    bool complete = false;
  };
  S3Result<LinePart> take_line(std::string_view input);
  S3Status end_line();
  S3Status begin_chunk(std::string_view line);
  S3Status check_size(std::uint64_t size);
  S3Status end_chunk();
  S3Status take_trailer(std::string_view line);
  S3Status take_trailer_signature(std::string_view value);
  S3Status end_trailers();

  ChunkFraming framing_;
  std::optional<sigv4::ChunkChain> chain_;
  State state_ = State::chunk_head;
  std::string line_;
  std::uint64_t left_;  // of the decoded bytes, not yet in a chunk
  std::uint64_t chunk_left_ = 0;
  std::uint64_t chunk_size_ = kChunkMinBytes;  // of the chunk before, so far
  std::uint64_t chunks_ = 0;
  std::string chunk_signature_;
  hash::Sha256 chunk_hash_;
  bool skipped_empty_line_ = false;
  bool trailers_verified_ = false;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

}  // namespace leat::s3body
