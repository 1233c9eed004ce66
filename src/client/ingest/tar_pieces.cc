#include "ingest/tar_pieces.h"

#include <algorithm>

namespace leat::ingest {

TarPieces::TarPieces(Sink sink)
    : sink_(std::move(sink)), scanner_([this](const tar::Member& member) {
        const bool is_own = member.name.starts_with("__leat__/");
        if (member.kind == tar::Kind::file && !is_own) {
          waiting_.push_back(member);
        } else if (member.kind != tar::Kind::directory && !is_own) {
          ++passed_over_;
        }
      }) {}

Status TarPieces::check() const {
  using State = tar::Scanner::State;
  if (scanner_.state() == State::not_tar) return fail(Errc::bad_request, "this is no tar");
  if (scanner_.state() == State::broken) return fail(Errc::bad_request, scanner_.problem());
  return {};
}

Status TarPieces::feed(Bytes bytes) {
  const std::uint64_t at = scanner_.offset();
  scanner_.feed(bytes);
  LEAT_DO(deliver(bytes, at));
  return check();
}

Status TarPieces::deliver(Bytes bytes, std::uint64_t at) {
  const std::uint64_t end = at + bytes.size();
  while (!waiting_.empty()) {
    const tar::Member& member = waiting_.front();
    const std::uint64_t data_end = member.data_offset + member.size_bytes;
    if (member.data_offset > end) return {};
    if (!is_begun_) LEAT_DO(sink_.begin(member));
    is_begun_ = true;
    const std::uint64_t from = std::max(member.data_offset, at);
    const std::uint64_t to = std::min(data_end, end);
    if (from < to) LEAT_DO(sink_.data(bytes.subspan(from - at, to - from)));
    if (data_end > end) return {};
    LEAT_DO(sink_.end());
    is_begun_ = false;
    waiting_.pop_front();
  }
  return {};
}

Status TarPieces::finish() {
  scanner_.finish();
  LEAT_DO(check());
  if (!waiting_.empty()) return fail(Errc::bad_request, "the tar ends in the middle of a file");
  return {};
}

}  // namespace leat::ingest
