#include "handover/handover.h"

#include <fmt/format.h>

#include "base/check.h"
#include "codec/codec.h"
#include "hash/crc32c.h"
#include "record/types.h"

namespace leat::handover {
namespace {

constexpr std::string_view kMagic = "LEATHND1";
constexpr std::uint32_t kGood = 200;

std::unexpected<Error> damaged(std::string_view what) {
  return fail(Errc::corrupt, fmt::format("the answer of the local socket is damaged: {}", what));
}

}  // namespace

std::string encode(const Answer& answer) {
  LEAT_CHECK(answer.files.size() <= kFilesMax);
  std::string body;
  codec::Encoder into_body(body);
  for (const FilePart& file : answer.files) {
    LEAT_CHECK(file.sums.size() == record::block_count(file.size_bytes) * 4);
    into_body.u64(file.size_bytes);
    into_body.raw(file.sums);
  }
  into_body.raw(answer.message);
  std::string out(kMagic);
  codec::Encoder encoder(out);
  encoder.u32(answer.status);
  encoder.u32(static_cast<std::uint32_t>(answer.files.size()));
  encoder.u32(static_cast<std::uint32_t>(record::kBlockBytes));
  encoder.u32(0);
  encoder.u64(body.size() + kSumBytes);
  encoder.raw(body);
  encoder.u32(hash::crc32c(as_bytes(out)));
  return out;
}

Result<Head> decode_head(Bytes head) {
  codec::Decoder in(head);
  if (in.raw(kMagic.size()) != kMagic) return damaged("another protocol");
  Head found;
  found.status = in.u32();
  found.files = in.u32();
  const std::uint32_t block_bytes = in.u32();
  const std::uint32_t zero = in.u32();
  found.body_bytes = in.u64();
  LEAT_DO(in.status("the head of a handover"));
  if (block_bytes != record::kBlockBytes || zero != 0) return damaged("another protocol");
  if (found.files > kFilesMax || found.body_bytes > kBodyMaxBytes || found.body_bytes < kSumBytes ||
      (found.files > 0) != (found.status == kGood)) {
    return damaged("its head makes no sense");
  }
  return found;
}

Result<Answer> decode(Bytes whole) {
  if (whole.size() < kHeadBytes + kSumBytes) return damaged("it is cut");
  LEAT_TRY(const Head head, decode_head(whole.first(kHeadBytes)));
  if (whole.size() != kHeadBytes + head.body_bytes) return damaged("it is cut");
  const Bytes summed = whole.first(whole.size() - kSumBytes);
  codec::Decoder sum(whole.last(kSumBytes));
  if (sum.u32() != hash::crc32c(summed)) return damaged("it fails its checksum");
  codec::Decoder in(summed.subspan(kHeadBytes));
  Answer answer{.status = head.status};
  for (std::uint32_t i = 0; i < head.files && !in.failed(); ++i) {
    FilePart file{.size_bytes = in.u64()};
    if (file.size_bytes == 0 || record::block_count(file.size_bytes) > in.rest().size() / 4) {
      return damaged("its files do not fit");
    }
    file.sums = in.raw(record::block_count(file.size_bytes) * 4);
    answer.files.push_back(std::move(file));
  }
  if (head.files == 0) {
    answer.message = in.raw(in.rest().size());
  }
  LEAT_DO(in.finish("the body of a handover"));
  return answer;
}

}  // namespace leat::handover
