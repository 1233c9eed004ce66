#include "snapshot/rows.h"

#include <algorithm>

#include "codec/codec.h"

namespace leat::snapshot {

void lay_out(const Shape& shape, std::uint64_t start, const Sizes& sizes, Sample& sample) {
  const std::uint64_t lead_bytes = shape.lead_units * kTarUnit;
  sample.start = start;
  sample.end = start;
  sample.fields.assign(sizes.size(), std::nullopt);
  const auto place = [&](std::size_t id) {
    if (!sizes[id] || sample.fields[id]) return;
    sample.fields[id] = FieldPlace{.offset = sample.end + lead_bytes, .size_bytes = *sizes[id]};
    const std::uint64_t units = (*sizes[id] + kTarUnit - 1) / kTarUnit;
    sample.end += lead_bytes + units * kTarUnit;
  };
  for (const char id : shape.field_order)
    place(static_cast<unsigned char>(id));
  for (std::size_t id = 0; id < sizes.size(); ++id)
    place(id);
}

std::string encode_wide(const Sample& sample) {
  std::string bytes;
  codec::Encoder out(bytes);
  out.varint(sample.start);
  out.varint(sample.end - sample.start);
  const auto has = [](const auto& field) { return field.has_value(); };
  out.varint(static_cast<std::uint64_t>(std::ranges::count_if(sample.fields, has)));
  for (std::size_t id = 0; id < sample.fields.size(); ++id) {
    if (!sample.fields[id]) continue;
    out.u8(static_cast<std::uint8_t>(id));
    out.varint(sample.fields[id]->offset - sample.start);
    out.varint(sample.fields[id]->size_bytes);
  }
  return bytes;
}

Status decode_wide(Bytes record, std::size_t field_count, Sample& sample) {
  codec::Decoder in(record);
  sample.start = in.varint();
  const std::uint64_t length = in.varint();
  sample.end = sample.start + length;
  if (sample.end < sample.start) in.set_failed();
  sample.fields.assign(field_count, std::nullopt);
  for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
    const std::size_t id = in.u8();
    const std::uint64_t behind = in.varint();
    const std::uint64_t size_bytes = in.varint();
    if (id >= field_count || sample.fields[id] || behind > length || size_bytes > length - behind) {
      in.set_failed();
      break;
    }
    sample.fields[id] = FieldPlace{.offset = sample.start + behind, .size_bytes = size_bytes};
  }
  return in.status("a wide record of a snapshot");
}

}  // namespace leat::snapshot
