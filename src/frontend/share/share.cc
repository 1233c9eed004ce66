#include "share/share.h"

#include <array>

#include "http1/conditional.h"
#include "http1/date.h"
#include "http1/head_writer.h"
#include "http1/range.h"
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

std::string_view content_type_of(std::string_view path) {
  struct Known {
    std::string_view ending;
    std::string_view type;
  };
  static constexpr std::array kKnown = {
      Known{".tar", "application/x-tar"}, Known{".json", "application/json"},
      Known{".jpg", "image/jpeg"},        Known{".jpeg", "image/jpeg"},
      Known{".png", "image/png"},         Known{".webp", "image/webp"},
      Known{".txt", "text/plain"},        Known{".csv", "text/csv"},
  };
  for (const Known& known : kKnown) {
    if (path.ends_with(known.ending)) return known.type;
  }
  return "application/octet-stream";
}

// Everything about the version that is served; the values are ours, so they need no check.
void add_identity(Response& response, const folder::OpenFile& file, std::string_view path) {
  std::string fields;
  fields.reserve(192);
  fields.append("ETag: ").append(file.etag).append("\r\nLast-Modified: ");
  fields.append(http1::DateText(file.info.modified).text());
  fields.append("\r\nAccept-Ranges: bytes\r\nContent-Type: ").append(content_type_of(path));
  fields.append("\r\n");
  response.add_checked(fields);
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

// The Range field, unless If-Range says that it was meant for another version: then the client has
// the beginning of that one and must get all of this. Only an entity tag names a version exactly.
std::string_view range_of(const http1::RequestHead& head, const folder::OpenFile& file) {
  const auto meant_for = head.headers.find("if-range");
  if (meant_for && *meant_for != file.etag) return "";
  return head.headers.find(http1::Header::range).value_or("");
}

Result<Response> answer_read(const http1::RequestHead& head, const folder::Folder& folder,
                             const folder::OpenFilePtr& file, std::string_view path) {
  LEAT_TRY(const auto conditions, http1::conditions_of(head.headers));
  const http1::Selected selected{
      .exists = true, .etag = file->etag, .last_modified = file->info.modified};
  switch (http1::evaluate(conditions, selected, head.method)) {
    case http1::Verdict::proceed: break;
    case http1::Verdict::precondition_failed: return fail(Errc::precondition_failed);
    case http1::Verdict::not_modified: {
      Response unchanged(304);
      add_identity(unchanged, *file, path);
      return unchanged;
    }
  }
  const std::uint64_t size = file->info.size_bytes;
  if (head.method == Method::head) {
    // Range means nothing to HEAD (RFC 9110, 14.2), and nothing of the file is read.
    Response response(200);
    add_identity(response, *file, path);
    response.declared_length = size;
    return response;
  }
  const auto range = http1::parse_range(range_of(head, *file), size);
  std::string content_range;
  if (range.kind != http1::RangeChoice::Kind::whole) {
    content_range = "Content-Range: ";
    http1::append_content_range(content_range, range, size);
    content_range += "\r\n";
  }
  if (range.kind == http1::RangeChoice::Kind::unsatisfiable) {
    Response outside = Response::of_error(Error(Errc::range_not_satisfiable));
    outside.add_checked(content_range);
    return outside;
  }
  const bool whole = range.kind == http1::RangeChoice::Kind::whole;
  Response response(whole ? 200 : 206);
  add_identity(response, *file, path);
  response.add_checked(content_range);
  const std::uint64_t length = whole ? size : range.last - range.first + 1;
  if (length > 0) set_body(response, folder, file, range.first, length);
  return response;
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
