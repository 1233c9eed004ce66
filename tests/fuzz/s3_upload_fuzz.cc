// Fuzzes what an S3 request is judged by before a byte is stored: credentials and bodies. The first
// byte chooses what the rest is. Checked of every input:
//   head:  1. no head is verified by a key it was not signed with;
//          2. signed by our own signer it is verified, and is not after a change.
//   body:  3. decoded in pieces it gives the payload, trailers and verdict that it gives at once;
//          4. a good body has the announced size;
//          5. the input taken as payload, framed and signed, decodes to itself, and does not with
//             any one byte of it changed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http1/request_head.h"
#include "s3body/chunk_decoder.h"
#include "sigv4/authenticator.h"
#include "sigv4/sign.h"
#include "sigv4/timestamp.h"

namespace {

using namespace leat;
using namespace leat::sigv4;
using s3body::ChunkDecoder;
using s3body::ChunkFraming;

const WallTime kNow = parse_timestamp("20130524T000000Z").value();
const Signer kSigner{.access_key = "AKID", .secret = "secret"};
const Scope kScope{.date = "20130524", .region = "us-east-1", .service = "s3"};

bool is_verified(const Request& request, const std::string& secret) {
  Authenticator authenticator({}, [&secret](std::string_view) { return std::optional(secret); });
  const auto identity = authenticator.authenticate(request, kNow);
  LEAT_CHECK(identity || !identity.error().message.empty());
  return identity && identity->has_value();
}

void check_signed(Request request) {
  if (auth_kind_of(request) != AuthKind::anonymous) return;
  for (const std::string_view name :
       {"x-amz-date", "x-amz-content-sha256", "x-amz-security-token"}) {
    const auto field = request.header(name);
    if (!field || *field) return;
  }
  const auto host = request.header("host");
  if (!host || !*host) return;
  const auto fields = sign_headers(request, kSigner, "UNSIGNED-PAYLOAD", kNow);
  for (const auto& [name, value] : fields)
    request.headers.push_back({.name = name, .value = value});
  LEAT_CHECK(is_verified(request, kSigner.secret));
  request.path.push_back('x');
  LEAT_CHECK(!is_verified(request, kSigner.secret));
}

void check_head(const std::string& text) {
  http1::RequestHead head;
  http1::RequestParser parser;
  const auto size = parser.parse(text, head);
  if (!size || *size == 0) return;
  const auto request = request_of(head);
  if (!request) return;
  LEAT_CHECK(!is_verified(*request, "another secret"));
  check_signed(*request);
}

ChunkChain fresh_chain() {
  return {derive_key(kSigner.secret, kScope), "20130524T000000Z", kScope, std::string(64, '0')};
}

struct Body {
  std::string verdict;
  std::string payload{};
  std::vector<std::pair<std::string, std::string>> trailers{};

  bool operator==(const Body&) const = default;
};

Body decode(const ChunkFraming& framing, std::string_view text, std::size_t piece) {
  const bool is_signed = framing.kind != PayloadKind::stream_unsigned_trailer;
  ChunkDecoder decoder(framing, is_signed ? std::optional(fresh_chain()) : std::nullopt);
  Body body;
  while (!text.empty()) {
    const std::string part(text.substr(0, piece));
    text.remove_prefix(part.size());
    for (Bytes rest = as_bytes(part); !rest.empty();) {
      const auto step = decoder.step(rest);
      // Up to where an error was seen depends on the pieces, and so does the payload before it.
      if (!step) return {.verdict = std::string(s3error::text_of(step.error().code))};
      LEAT_CHECK(step->consumed > 0 && step->consumed <= rest.size());
      LEAT_CHECK(step->payload.size() <= step->consumed);
      body.payload.append(as_text(step->payload));
      LEAT_CHECK(body.payload.size() <= framing.decoded_size);
      rest = rest.subspan(step->consumed);
    }
  }
  const auto finished = decoder.finish();
  if (!finished) return {.verdict = std::string(s3error::text_of(finished.error().code))};
  body.verdict = "ok";
  body.trailers = decoder.trailers();
  LEAT_CHECK(body.payload.size() == framing.decoded_size);
  LEAT_CHECK(body.trailers.size() == framing.trailers.size());
  return body;
}

void check_body(PayloadKind kind, std::size_t seed, std::string_view text) {
  ChunkFraming framing{.kind = kind, .decoded_size = seed % 32};
  if (kind != PayloadKind::stream_signed && seed % 3 != 0)
    framing.trailers = {"x-amz-checksum-crc32"};
  const Body whole = decode(framing, text, std::max<std::size_t>(text.size(), 1));
  LEAT_CHECK(decode(framing, text, 1 + seed % 13) == whole);
}

std::string framed(std::string_view payload) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  ChunkChain chain = fresh_chain();
  std::string out;
  if (!payload.empty()) {
    for (int shift = 12; shift >= 0; shift -= 4)
      out.push_back(kDigits[payload.size() >> shift & 15]);
    out.append(";chunk-signature=").append(chain.next(hash::Sha256::of(as_bytes(payload))));
    out.append("\r\n").append(payload).append("\r\n");
  }
  out.append("0;chunk-signature=").append(chain.next(hash::Sha256::of({})));
  return out.append("\r\n\r\n");
}

void check_identity(std::size_t seed, std::string_view payload) {
  const ChunkFraming framing{.kind = PayloadKind::stream_signed, .decoded_size = payload.size()};
  std::string wire = framed(payload);
  const Body body = decode(framing, wire, 1 + seed % 50);
  LEAT_CHECK(body.verdict == "ok" && body.payload == payload);
  char& victim = wire[seed * 31 % wire.size()];
  victim = static_cast<char>(victim ^ 1);
  LEAT_CHECK(decode(framing, wire, 1 + seed % 50).verdict != "ok");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t seed = data[1];
  const std::string text(reinterpret_cast<const char*>(data + 2), size - 2);
  switch (data[0] % 5) {
    case 0: check_head(text); break;
    case 1: check_body(PayloadKind::stream_signed, seed, text); break;
    case 2: check_body(PayloadKind::stream_signed_trailer, seed, text); break;
    case 3: check_body(PayloadKind::stream_unsigned_trailer, seed, text); break;
    default: check_identity(seed, text); break;
  }
  return 0;
}
