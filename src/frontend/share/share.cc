#include "share/share.h"

#include "http/representation.h"
#include "http1/media_type.h"
#include "http1/uri.h"

namespace leat::share {
namespace {

using http::Operation;
using http::Response;
using http1::Method;

constexpr std::string_view kNativePrefix = "/_/";

// The name below the folder. Decoded once; what comes out is what is opened.
Result<std::string> name_of(const http1::RequestHead& head) {
  LEAT_TRY(std::string path, http1::percent_decode(head.path.substr(1)));
  if (!folder::is_servable(path)) return fail(Errc::not_found, "no file can have this name");
  return path;
}

void set_body(Response& response, const folder::Folder& folder, const folder::OpenFilePtr& file,
              std::uint64_t offset, std::uint64_t length) {
  if (file->file == nullptr) {
    const Bytes content = as_bytes(file->content);
    response.body = http::MemoryBody{.owner = file, .bytes = content.subspan(offset, length)};
    return;
  }
  response.body = http::FileBody{.file = file->file,
                                 .uncached = file->cold_source(length),
                                 .offset = offset,
                                 .length = length,
                                 .is_warm = folder.is_warm(*file)};
}

Result<Response> answer_read(const http1::RequestHead& head, const folder::Folder& folder,
                             const folder::OpenFilePtr& file, std::string_view path) {
  const http::Representation selected{.etag = file->etag,
                                      .modified = file->info.modified,
                                      .size_bytes = file->info.size_bytes,
                                      .content_type = http1::media_type_of(path)};
  LEAT_TRY(http::ReadAnswer answer, http::answer_read(head, selected));
  if (answer.range) {
    set_body(answer.response, folder, file, answer.range->offset, answer.range->length);
  }
  return std::move(answer.response);
}

// A condition that is ignored is worse than one that is refused: the client relies on it.
Status refuse_conditions(const http1::RequestHead& head) {
  for (const auto condition : {http1::Header::if_match, http1::Header::if_none_match,
                               http1::Header::if_unmodified_since}) {
    if (head.headers.find(condition)) {
      return fail(Errc::not_implemented, "conditional changes of a shared folder");
    }
  }
  return {};
}

}  // namespace

Result<std::optional<Operation>> ShareRouter::route(const http1::RequestHead& head) const {
  if (head.path.starts_with(kNativePrefix)) return std::nullopt;
  switch (head.method) {
    case Method::get:
    case Method::head: return Operation::read_file;
    case Method::put:
      if (writable_) return Operation::write_file;
      break;
    case Method::delete_:
      if (writable_) return Operation::delete_file;
      break;
    case Method::post:
    case Method::options:
    case Method::other: break;
  }
  return fail(Errc::method_not_allowed, writable_ ? "GET, HEAD, PUT and DELETE are served here"
                                                  : "this folder is shared read-only");
}

rt::Task<Response> ReadFile::handle(http::Exchange& exchange) {
  const http1::RequestHead& head = exchange.head;
  // Most names need no decoding, and most files are open already: then nothing is copied or
  // awaited.
  const std::string_view raw = head.path.substr(1);
  folder::OpenFilePtr file = raw.find('%') == raw.npos ? folder_.find(raw) : nullptr;
  if (file != nullptr) co_return answer_read(head, folder_, file, raw);
  LEAT_CO_TRY(const std::string path, name_of(head));
  LEAT_CO_TRY(file, co_await folder_.open(path));
  co_return answer_read(head, folder_, file, path);
}

rt::Task<Response> WriteFile::handle(http::Exchange& exchange) {
  const http1::RequestHead& head = exchange.head;
  LEAT_CO_TRY(std::string path, name_of(head));
  LEAT_CO_DO(refuse_conditions(head));
  // The body would be a part, and be stored as the whole (RFC 9110, 14.5).
  if (head.headers.find("content-range")) {
    co_return fail(Errc::bad_request, "a part of a file cannot be written");
  }
  if (!head.content_length && !head.chunked) co_return fail(Errc::length_required);
  if (head.content_length.value_or(0) > size_max_) co_return fail(Errc::too_large);
  LEAT_CO_TRY(const auto upload, co_await folder::Upload::begin(folder_.state(), tools_));
  io::WriteBehind& writer = upload->writer();
  bool at_end = false;
  while (!at_end) {
    LEAT_CO_TRY(const MutableBytes buffer, co_await writer.next_buffer());
    std::size_t filled = 0;
    while (filled < buffer.size() && !at_end) {
      LEAT_CO_TRY(const std::size_t got, co_await exchange.body.read(buffer.subspan(filled)));
      filled += got;
      at_end = got == 0;
    }
    if (writer.size_bytes() + filled > size_max_) co_return fail(Errc::too_large);
    writer.commit(filled);
  }
  auto published = co_await upload->publish(path);
  folder_.forget(path);
  LEAT_CO_TRY(const bool replaced, std::move(published));
  Response response(replaced ? 200 : 201);
  response.add_checked("x-leat-durability: sync\r\n");
  co_return response;
}

rt::Task<Response> DeleteFile::handle(http::Exchange& exchange) {
  LEAT_CO_TRY(std::string path, name_of(exchange.head));
  LEAT_CO_DO(refuse_conditions(exchange.head));
  LEAT_CO_DO(co_await folder_.remove(std::move(path)));
  co_return Response(204);
}

}  // namespace leat::share
