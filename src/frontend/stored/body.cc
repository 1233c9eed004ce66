#include "stored/body.h"

namespace leat::stored {
namespace {

// Hands the bytes of a large object to the connection as they are read and verified.
class FilesBody final : public http::BodySource {
 public:
  explicit FilesBody(std::unique_ptr<store::ObjectStream> source) : source_(std::move(source)) {}
  rt::Task<Bytes> next() override { return source_->next(); }
  std::optional<InFile> in_file() const override {
    auto place = source_->in_file();
    if (!place) return std::nullopt;
    return InFile{.file = std::move(place->file), .offset = place->offset};
  }

 private:
  std::unique_ptr<store::ObjectStream> source_;
};

// Hands on what a source of some ranges gives.
template <class Source>
class RangesBody final : public http::BodySource {
 public:
  explicit RangesBody(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  rt::Task<Bytes> next() override { return source_->next(); }

 private:
  std::unique_ptr<Source> source_;
};

}  // namespace

void set_body(http::Response& response, store::Body body, std::uint64_t length) {
  if (auto* content = std::get_if<volume::Content>(&body)) {
    response.body = http::MemoryBody{.owner = content->owner, .bytes = content->bytes};
    return;
  }
  auto& source = std::get<std::unique_ptr<store::ObjectStream>>(body);
  response.body =
      http::StreamBody{.source = std::make_unique<FilesBody>(std::move(source)), .length = length};
}

void set_body(http::Response& response, std::unique_ptr<shards::RangesSource> source,
              std::uint64_t length) {
  auto body = std::make_unique<RangesBody<shards::RangesSource>>(std::move(source));
  response.body = http::StreamBody{.source = std::move(body), .length = length};
}

void set_body(http::Response& response, std::unique_ptr<shards::RecipeSource> source,
              std::uint64_t length) {
  auto body = std::make_unique<RangesBody<shards::RecipeSource>>(std::move(source));
  response.body = http::StreamBody{.source = std::move(body), .length = length};
}

}  // namespace leat::stored
