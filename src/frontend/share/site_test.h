// What the tests of this module share: a server of one folder, in a simulated world. The folder is
// on a simulated disk, or on a real one that is used in the same order of steps.
#pragma once

#include <memory>
#include <string>

#include "share/share.h"
#include "support/http_world.h"

namespace leat::share {

class Site {
 public:
  static constexpr std::uint64_t kSmallMaxBytes = 1000;
  static constexpr std::uint64_t kPutMaxBytes = 1'000'000;

  // `disk` null: the simulated one. Lifetime: `disk` outlives the site.
  explicit Site(bool writable, io::Disk* disk = nullptr) : router_(writable) {
    testing::HttpWorldOptions options;
    options.router = &router_;
    http = std::make_unique<testing::HttpWorld>(options);
    io::Disk& chosen = disk != nullptr ? *disk : http->world.disk("server");
    state = std::make_unique<folder::FolderState>(
        chosen, pool_, folder::FolderOptions{.small_max_bytes = kSmallMaxBytes});
    folder = std::make_unique<folder::Folder>(*state, http->world.clock("server"));
    read_ = std::make_unique<ReadFile>(*folder);
    write_ =
        std::make_unique<WriteFile>(*folder,
                                    folder::UploadTools{.shard = http->world.shard(),
                                                        .file_io = http->world.file_io("server"),
                                                        .buffers = http->body_buffers,
                                                        .rng = http->world.rng()},
                                    kPutMaxBytes);
    delete_ = std::make_unique<DeleteFile>(*folder);
    http->handle(http::Operation::read_file, *read_);
    http->handle(http::Operation::write_file, *write_);
    http->handle(http::Operation::delete_file, *delete_);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // Files of the folder are closed before the world and its disk go.
  ~Site() {
    http->stop();
    folder.reset();
  }

  // One request on a connection of its own; `fields` end in CRLF each.
  testing::Answer ask(std::string_view method, std::string_view target,
                      std::string_view fields = "", std::string_view body = "") {
    testing::RawClient client(*http);
    std::string request = std::string(method) + " " + std::string(target) +
                          " HTTP/1.1\r\nHost: server\r\n" + std::string(fields);
    if (method == "PUT") request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return client.ask(request + "\r\n" + std::string(body), method == "HEAD" ? "H" : "");
  }
  testing::Answer get(std::string_view target, std::string_view fields = "") {
    return ask("GET", target, fields);
  }
  testing::Answer put(std::string_view target, std::string_view body) {
    return ask("PUT", target, "", body);
  }

 private:
  rt::BlockingPool pool_{"test", 0, 1};
  ShareRouter router_;
  std::unique_ptr<ReadFile> read_;
  std::unique_ptr<WriteFile> write_;
  std::unique_ptr<DeleteFile> delete_;

 public:
  std::unique_ptr<testing::HttpWorld> http;
  std::unique_ptr<folder::FolderState> state;
  std::unique_ptr<folder::Folder> folder;
};

}  // namespace leat::share
