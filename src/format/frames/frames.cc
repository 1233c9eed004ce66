#include "frames/frames.h"

#include <fmt/format.h>

#include "codec/codec.h"
#include "hash/crc32c.h"

namespace leat::frames {
namespace {

constexpr std::size_t kFieldHeadBytes = 12;
constexpr std::uint32_t kFieldsMax = 65'536;

std::unexpected<Error> damaged(std::string_view what) {
  return fail(Errc::corrupt, fmt::format("the answer to a batch is damaged: {}", what));
}

}  // namespace

void append_header(std::string& out, const Header& header) {
  codec::Encoder encoder(out);
  encoder.u32(header.item);
  encoder.u8(static_cast<std::uint8_t>(header.kind));
  encoder.u8(0);
  encoder.u8(static_cast<std::uint8_t>(header.status & 0xFF));
  encoder.u8(static_cast<std::uint8_t>(header.status >> 8));
  encoder.u64(header.length);
}

void append_sum(std::string& out, std::uint32_t crc) {
  codec::Encoder(out).u32(crc);
}

std::uint64_t fields_bytes(const std::vector<Field>& fields) {
  std::uint64_t size = 4;
  for (const Field& field : fields)
    size += kFieldHeadBytes + field.name.size();
  return size;
}

std::string encode_fields(const std::vector<Field>& fields) {
  std::string out;
  codec::Encoder encoder(out);
  encoder.u32(static_cast<std::uint32_t>(fields.size()));
  for (const Field& field : fields) {
    encoder.u64(field.size_bytes);
    encoder.u32(static_cast<std::uint32_t>(field.name.size()));
    encoder.raw(field.name);
  }
  return out;
}

Result<std::vector<std::pair<std::string_view, std::string_view>>> Frame::fields() const {
  codec::Decoder in{std::string_view(payload)};
  const std::uint32_t count = in.u32();
  if (count > kFieldsMax) return damaged("too many fields");
  std::vector<std::pair<std::string_view, std::uint64_t>> heads;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    const std::uint64_t size = in.u64();
    heads.emplace_back(in.raw(in.u32()), size);
  }
  std::vector<std::pair<std::string_view, std::string_view>> fields;
  for (const auto& [name, size] : heads)
    fields.emplace_back(name, in.raw(size));
  if (in.failed() || !in.rest().empty()) return damaged("a sample's fields do not fill its frame");
  return fields;
}

Result<std::optional<Frame>> Reader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (has_ended_ && !rest.empty()) return damaged("something follows its end");
  if (rest.size() < kHeaderBytes) return std::nullopt;
  codec::Decoder in(rest);
  Frame frame;
  frame.header.item = in.u32();
  const std::uint8_t kind = in.u8();
  const std::uint8_t zero = in.u8();
  frame.header.kind = static_cast<Kind>(kind);
  frame.header.status = in.u8();
  frame.header.status = static_cast<std::uint16_t>(frame.header.status | in.u8() << 8);
  frame.header.length = in.u64();
  if (kind > static_cast<std::uint8_t>(Kind::end) || zero != 0) return damaged("an unknown frame");
  if (frame.header.length > frame_max_bytes_) return damaged("a frame is longer than allowed");
  if (rest.size() < kHeaderBytes + frame.header.length + kSumBytes) return std::nullopt;
  frame.payload = in.raw(frame.header.length);
  const std::string_view summed = rest.substr(0, kHeaderBytes + frame.payload.size());
  if (in.u32() != hash::crc32c(as_bytes(summed))) return damaged("a frame fails its checksum");
  if (frame.header.item != next_item_) return damaged("its items are not in order");
  has_ended_ = frame.header.kind == Kind::end;
  if (!has_ended_) ++next_item_;
  at_ += summed.size() + kSumBytes;
  // What was read is dropped now and then, not each time.
  if (at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return frame;
}

}  // namespace leat::frames
