// Bodies as clients frame them, and what a reader makes of them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "s3body/body_reader.h"
#include "sigv4/fixture_test.h"

namespace leat::s3body {

using sigv4::ChunkChain;
using sigv4::PayloadKind;

// The chain of the streaming examples of AWS, from a seed signature.
inline ChunkChain chain_from(std::string seed) {
  const sigv4::Scope scope{.date = "20130524", .region = "us-east-1", .service = "s3"};
  return {derive_key(sigv4::kSecret, scope), std::string(sigv4::kThen), scope, std::move(seed)};
}

inline std::string hex_size(std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[size % 16]);
    size /= 16;
  } while (size != 0);
  return text;
}

// One chunk with its signature; the last one is empty and has no line end of its own.
inline std::string signed_chunk(ChunkChain& chain, std::string_view chunk) {
  const std::string& signature = chain.next(hash::Sha256::of(as_bytes(chunk)));
  std::string out = hex_size(chunk.size()) + ";chunk-signature=" + signature + "\r\n";
  if (!chunk.empty()) out.append(chunk).append("\r\n");
  return out;
}

inline std::string signed_body(ChunkChain chain, const std::vector<std::string>& chunks) {
  std::string out;
  for (const std::string& chunk : chunks)
    out += signed_chunk(chain, chunk);
  return out + signed_chunk(chain, "") + "\r\n";
}

struct Decoded {
  std::string verdict{};  // "ok" or the code
  std::string payload{};
  std::vector<std::pair<std::string, std::string>> trailers{};

  bool operator==(const Decoded&) const = default;
};

// Pushes `text` in pieces of `piece` bytes, each a buffer of its own.
template <class Reader>
S3Status push_all(Reader& reader, std::string_view text, std::size_t piece, std::string& payload) {
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string part(text.substr(at, piece));
    Bytes rest = as_bytes(part);
    while (!rest.empty()) {
      LEAT_TRY(const ChunkDecoder::Step step, reader.step(rest));
      EXPECT_GT(step.consumed, 0U);
      payload.append(as_text(step.payload));
      rest = rest.subspan(step.consumed);
    }
  }
  return {};
}

inline Decoded decode_in_pieces(const ChunkFraming& framing, std::optional<ChunkChain> chain,
                                std::string_view text, std::size_t piece) {
  ChunkDecoder decoder(framing, std::move(chain));
  Decoded decoded;
  auto status = push_all(decoder, text, piece, decoded.payload);
  if (status) status = decoder.finish();
  decoded.verdict = status ? "ok" : std::string(s3error::text_of(status.error().code));
  if (status) decoded.trailers = decoder.trailers();
  return decoded;
}

// Decodes at once and in pieces of 1 and 7 bytes, which must not make a difference.
inline Decoded decode(const ChunkFraming& framing, const std::optional<ChunkChain>& chain,
                      std::string_view text) {
  const Decoded whole =
      decode_in_pieces(framing, chain, text, std::max<std::size_t>(text.size(), 1));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}})
    EXPECT_EQ(decode_in_pieces(framing, chain, text, piece).verdict, whole.verdict) << piece;
  return whole;
}

}  // namespace leat::s3body
