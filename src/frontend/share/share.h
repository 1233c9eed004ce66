// Share: a folder over HTTP — GET and HEAD with ranges and conditions, and PUT and DELETE when
// allowed.
//
// Every path that is not the native API's (`/_/…`) is the name of a file. Small files are answered
// from memory, large ones by the kernel. A PUT is answered when its bytes and its name are durable.
//
// Shard: one of each a shard. Lifetime: folder and tools outlive the handlers.
#pragma once

#include "folder/folder.h"
#include "folder/upload.h"
#include "http/dispatcher.h"

namespace leat::share {

class ShareRouter final : public http::Router {
 public:
  explicit ShareRouter(bool writable) : writable_(writable) {}
  Result<std::optional<http::Operation>> route(const http1::RequestHead& head) const override;
  std::string_view allowed(const http1::RequestHead&) const override {
    return writable_ ? "GET, HEAD, PUT, DELETE" : "GET, HEAD";
  }

 private:
  bool writable_;
};

class ReadFile final : public http::Handler {
 public:
  explicit ReadFile(folder::Folder& folder) : folder_(folder) {}
  rt::Task<http::Response> handle(http::Exchange& exchange) override;

 private:
  folder::Folder& folder_;
};

class WriteFile final : public http::Handler {
 public:
  // Larger files than `size_max` are refused: before they are sent, if their length is known.
  WriteFile(folder::Folder& folder, folder::UploadTools tools, std::uint64_t size_max)
      : folder_(folder), tools_(tools), size_max_(size_max) {}
  rt::Task<http::Response> handle(http::Exchange& exchange) override;

 private:
  folder::Folder& folder_;
  folder::UploadTools tools_;
  std::uint64_t size_max_;
};

class DeleteFile final : public http::Handler {
 public:
  explicit DeleteFile(folder::Folder& folder) : folder_(folder) {}
  rt::Task<http::Response> handle(http::Exchange& exchange) override;

 private:
  folder::Folder& folder_;
};

}  // namespace leat::share
