#include "tar/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "tar/header.h"

namespace leat::tar {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
// No archive is longer: offsets stay far from overflow.
constexpr std::uint64_t kOffsetMax = std::uint64_t{1} << 62;

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

Kind kind_of(char type) {
  switch (type) {
    case '\0':
    case '0':
    case '7':  // contiguous, where a file system knows such
      return Kind::file;
    case '1':
    case '2': return Kind::link;
    case '5': return Kind::directory;
    default: return Kind::other;
  }
}

// The types whose size field is not followed by data: all readers pass over it.
bool has_no_data(char type) {
  return type >= '1' && type <= '6';
}

}  // namespace

Scanner::Scanner(std::function<void(const Member&)> on_member, Limits limits)
    : on_member_(std::move(on_member)), limits_(limits) {}

std::uint64_t Scanner::skippable() const {
  return is_done() ? kUnlimited : data_left_;
}

void Scanner::skip(std::uint64_t bytes) {
  LEAT_CHECK(bytes <= skippable());
  offset_ += bytes;
  if (!is_done()) data_left_ -= bytes;
}

std::size_t Scanner::block_bytes() const {
  return body_ == Body::none ? kBlockBytes : static_cast<std::size_t>(padded(body_bytes_));
}

void Scanner::feed(Bytes bytes) {
  while (!bytes.empty()) {
    if (const std::uint64_t unseen = std::min<std::uint64_t>(skippable(), bytes.size());
        unseen > 0) {
      skip(unseen);
      bytes = bytes.subspan(static_cast<std::size_t>(unseen));
      continue;
    }
    if (partial_.empty()) block_at_ = offset_;
    const std::size_t wanted = block_bytes() - partial_.size();
    const Bytes piece = bytes.first(std::min(wanted, bytes.size()));
    bytes = bytes.subspan(piece.size());
    offset_ += piece.size();
    if (partial_.empty() && piece.size() == wanted) {
      take(piece);
      continue;
    }
    partial_.append(as_text(piece));
    if (piece.size() < wanted) continue;
    const std::string whole = std::exchange(partial_, {});
    take(as_bytes(whole));
  }
}

void Scanner::take(Bytes block) {
  if (body_ != Body::none) return take_body(block);
  if (state_ == State::undecided) return take_first(block);
  if (state_ == State::ended) return take_behind_end(block);
  take_header(block);
}

void Scanner::take_first(Bytes block) {
  if (is_zero(block) || !has_checksum(block) || !dialect_of(block)) {
    state_ = State::not_tar;
    return;
  }
  state_ = State::reading;
  take_header(block);
}

void Scanner::take_behind_end(Bytes block) {
  if (is_zero(block)) return;
  const bool is_header = block.size() == kBlockBytes && has_checksum(block) && dialect_of(block);
  set_broken(is_header ? "archives were concatenated: another one begins behind the end blocks"
                       : "bytes behind the end-of-archive blocks",
             block_at_);
}

void Scanner::take_header(Bytes block) {
  if (is_zero(block)) {
    if (extensions_.start || is_after_global_) {
      return set_broken("an extension without its member", block_at_);
    }
    if (is_after_zeros_) state_ = State::ended;
    is_after_zeros_ = true;
    return;
  }
  if (is_after_zeros_) return set_broken("a lone zero block", block_at_ - kBlockBytes);
  const auto dialect = has_checksum(block) ? dialect_of(block) : std::nullopt;
  if (!dialect) return set_broken("no header where one must be", block_at_);
  const auto header = decode_header(block, *dialect);
  if (!header) return set_broken(header.error().detail(), block_at_);
  switch (header->type) {
    case 'L': return begin_body(Body::long_name, *header);
    case 'K': return begin_body(Body::long_link, *header);
    case 'x':
    case 'X': return begin_body(Body::pax, *header);
    case 'g': return begin_body(Body::pax_global, *header);
    default: take_member(*header);
  }
}

void Scanner::begin_body(Body body, const Header& header) {
  if (header.size_bytes > limits_.extension_max_bytes) {
    return set_broken("an extension that is too large", block_at_);
  }
  const bool is_second = (body == Body::long_name && extensions_.long_name) ||
                         (body == Body::long_link && extensions_.has_long_link) ||
                         (body == Body::pax && extensions_.has_pax) ||
                         (body == Body::pax_global && extensions_.start);
  if (is_second) return set_broken("extensions that contradict each other", block_at_);
  if (body != Body::pax_global && !extensions_.start) extensions_.start = block_at_;
  if (body == Body::pax || body == Body::pax_global) has_seen_pax_ = true;
  body_ = body;
  body_bytes_ = header.size_bytes;
  if (body_bytes_ == 0) {
    block_at_ = offset_;
    take_body({});
  }
}

void Scanner::take_body(Bytes padded_body) {
  const Body body = std::exchange(body_, Body::none);
  const auto size = static_cast<std::size_t>(body_bytes_);
  std::string_view text = as_text(padded_body.first(size));
  // tarfile reads PAX records up to the end of the block.
  if (!is_zero(padded_body.subspan(size))) {
    return set_broken("an extension with bytes in its padding", block_at_);
  }
  if (body == Body::pax) return take_pax(text);
  if (body == Body::pax_global) return take_global(text);
  const std::size_t end = text.find('\0');
  if (end != std::string_view::npos && !is_zero(as_bytes(text.substr(end)))) {
    return set_broken("a long name with bytes behind its end", block_at_);
  }
  text = text.substr(0, end);
  if (body == Body::long_link) {
    extensions_.has_long_link = true;
  } else {
    extensions_.long_name = text;
  }
}

void Scanner::take_pax(std::string_view records) {
  auto decoded = decode_pax(records);
  if (!decoded) return set_broken(decoded.error().detail(), block_at_);
  extensions_.has_pax = true;
  extensions_.path = std::move(decoded->path);
  extensions_.size_bytes = decoded->size_bytes;
}

void Scanner::take_global(std::string_view records) {
  is_after_global_ = true;
  const auto decoded = decode_pax(records);
  if (!decoded) return set_broken(decoded.error().detail(), block_at_);
  if (decoded->path || decoded->size_bytes) {
    set_broken("a global PAX header that names or sizes all members", block_at_);
  }
}

std::optional<std::string> Scanner::name_of(const Header& header) {
  if (extensions_.path && extensions_.long_name) {
    set_broken("extensions that contradict each other", block_at_);
    return std::nullopt;
  }
  std::string name = header.name;
  if (extensions_.long_name) name = *extensions_.long_name;
  if (extensions_.path) name = *extensions_.path;
  if (name.empty()) {
    set_broken("a member without a name", block_at_);
    return std::nullopt;
  }
  if (name.size() > limits_.name_max_bytes) {
    set_broken("a name that is too long", block_at_);
    return std::nullopt;
  }
  return name;
}

// How many bytes of data follow.
std::optional<std::uint64_t> Scanner::size_of(const Header& header) {
  std::uint64_t size = header.size_bytes;
  if (extensions_.size_bytes) {
    if (size != 0 && size != *extensions_.size_bytes) {
      set_broken("the sizes in the PAX records and in the header differ", block_at_);
      return std::nullopt;
    }
    size = *extensions_.size_bytes;
  }
  if (has_no_data(header.type)) {
    // Old writers leave the size of the file in a hard link; since 2001 PAX allows it to have data.
    // tarfile never expects them, libarchive does in archives with PAX headers, and if the header
    // has no version.
    const bool is_pax = has_seen_pax_ || header.dialect == Dialect::unversioned;
    const bool may_have_data = extensions_.size_bytes || (header.type == '1' && is_pax);
    if (size != 0 && may_have_data) {
      set_broken("a link, directory or device with a size", block_at_);
      return std::nullopt;
    }
    return 0;
  }
  if (size > kOffsetMax || offset_ > kOffsetMax) {
    set_broken("a size that is too large", block_at_);
    return std::nullopt;
  }
  return size;
}

void Scanner::take_member(const Header& header) {
  if (header.type == 'M') return set_broken("it continues another volume", block_at_);
  // libarchive passes over a label, tarfile lists it.
  if (header.type == 'V') return set_broken("volume labels are not supported", block_at_);
  if (header.type == 'A') return set_broken("Solaris ACLs are not supported", block_at_);
  auto name = name_of(header);
  if (!name) return;
  const auto size = size_of(header);
  if (!size) return;

  Kind kind = kind_of(header.type);
  if (name->ends_with('/')) {
    // The oldest tar has no other way to say directory. libarchive takes every type that has data
    // for one, tarfile the oldest type, by the name in the header alone, and then expects no data.
    const bool is_plain = header.type == '\0' && !extensions_.path && !extensions_.long_name;
    if (*size != 0 || (kind == Kind::file && !is_plain)) {
      return set_broken("a file whose name ends in a slash", block_at_);
    }
    if (kind == Kind::file) kind = Kind::directory;
  }
  const std::uint64_t start = extensions_.start.value_or(block_at_);
  Member member{.name = *std::move(name),
                .kind = kind,
                .start = start,
                .data_offset = offset_,
                .size_bytes = *size};
  extensions_ = {};
  is_after_global_ = false;
  data_left_ = padded(*size);
  on_member_(member);
}

void Scanner::finish() {
  if (is_done()) return;
  if (state_ == State::undecided) {
    state_ = State::not_tar;
  } else if (state_ == State::ended) {
    take_behind_end(as_bytes(partial_));
  } else {
    finish_reading();
  }
}

void Scanner::finish_reading() {
  if (data_left_ > 0) return set_broken("truncated in the data of a member", offset_);
  if (body_ != Body::none) return set_broken("truncated in an extension", offset_);
  if (is_after_zeros_) {
    // One block of zeros is the end to tarfile and libarchive.
    if (!is_zero(as_bytes(partial_))) {
      return set_broken("a lone zero block", block_at_ - kBlockBytes);
    }
    state_ = State::ended;
    return;
  }
  if (!partial_.empty()) return set_broken("truncated in a header", offset_);
  if (extensions_.start || is_after_global_) {
    return set_broken("truncated: an extension without its member", offset_);
  }
  set_broken("truncated: no end-of-archive blocks", offset_);
}

void Scanner::set_broken(std::string_view why, std::uint64_t at) {
  state_ = State::broken;
  problem_ = fmt::format("{} (at byte {})", why, at);
}

}  // namespace leat::tar
