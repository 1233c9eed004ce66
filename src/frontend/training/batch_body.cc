#include "training/batch_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frames/frames.h"
#include "hash/crc32c.h"
#include "tar/writer.h"

namespace leat::training {
namespace {

using nlohmann::json;
using shards::BatchItem;
using Outcome = shards::BatchReader::Outcome;
using Part = shards::BatchReader::Part;

// What is gathered before it is handed to the connection.
constexpr std::size_t kGatherBytes = 256 * kKiB;
constexpr std::string_view kEndName = "__leat__/batch";

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json json_of(const Error& error) {
  return {{"error", traits(error.code()).name}, {"message", error.detail()}};
}

// How far the answer is, for its end.
struct Totals {
  std::uint64_t items = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
};

json json_of(const Totals& totals, bool is_complete) {
  return {{"items", totals.items},
          {"failed", totals.failed},
          {"bytes", totals.bytes},
          {"complete", is_complete}};
}

// How outcomes become bytes: what stands before, between and behind the data.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual void begin_item(std::string& out, const BatchItem& item, const Outcome& outcome) = 0;
  virtual void begin_part(std::string& out, const BatchItem& item, const Part& part) = 0;
  virtual void pass(Bytes data) = 0;
  virtual void end_part(std::string& out, const Part& part) = 0;
  virtual void end_item(std::string& out) = 0;
  // Requires: the outcome failed. Errors: the answer cannot say so, and must be broken off.
  virtual Status failed_item(std::string& out, const Outcome& outcome, OnError on_error) = 0;
  virtual void end(std::string& out, const Totals& totals, bool is_complete) = 0;
};

class FrameEncoder final : public Encoder {
 public:
  void begin_item(std::string& out, const BatchItem& item, const Outcome& outcome) override {
    frames::Header header{.item = static_cast<std::uint32_t>(outcome.item),
                          .length = outcome.size_bytes()};
    std::string table;
    if (item.is_sample()) {
      std::vector<frames::Field> fields;
      for (const Part& part : outcome.parts)
        fields.push_back({.name = part.field, .size_bytes = part.size_bytes});
      table = frames::encode_fields(fields);
      header.kind = frames::Kind::sample;
      header.length += table.size();
    }
    const std::size_t begin = out.size();
    frames::append_header(out, header);
    out += table;
    crc_ = hash::crc32c(as_bytes(std::string_view(out).substr(begin)));
  }
  void begin_part(std::string&, const BatchItem&, const Part&) override {}
  void pass(Bytes data) override { crc_ = hash::crc32c(data, crc_); }
  void end_part(std::string&, const Part&) override {}
  void end_item(std::string& out) override { frames::append_sum(out, crc_); }

  Status failed_item(std::string& out, const Outcome& outcome, OnError) override {
    const Error& error = outcome.status.error();
    append(out,
           {.item = static_cast<std::uint32_t>(outcome.item),
            .kind = frames::Kind::error,
            .status = static_cast<std::uint16_t>(traits(error.code()).http_status)},
           text_of(json_of(error)));
    return {};
  }
  void end(std::string& out, const Totals& totals, bool is_complete) override {
    append(out, {.item = static_cast<std::uint32_t>(totals.items), .kind = frames::Kind::end},
           text_of(json_of(totals, is_complete)));
  }

 private:
  static void append(std::string& out, frames::Header header, std::string_view payload) {
    header.length = payload.size();
    const std::size_t begin = out.size();
    frames::append_header(out, header);
    out += payload;
    frames::append_sum(out, hash::crc32c(as_bytes(std::string_view(out).substr(begin))));
  }

  std::uint32_t crc_ = 0;  // of the frame so far
};

class TarEncoder final : public Encoder {
 public:
  explicit TarEncoder(const shards::BatchRequest& request) : request_(request) {}

  void begin_item(std::string&, const BatchItem&, const Outcome&) override {}
  void begin_part(std::string& out, const BatchItem& item, const Part& part) override {
    std::string name = item.name;
    if (item.what == BatchItem::What::object) name = request_.objects[item.object].key;
    if (item.is_sample()) name += fmt::format(".{}", part.field);
    // No name in a tar has a NUL; a slash at its end would make it a folder.
    std::ranges::replace(name, '\0', '_');
    while (name.ends_with('/'))
      name.pop_back();
    out += tar::header({.name = name.empty() ? "_" : name, .size_bytes = part.size_bytes});
  }
  void pass(Bytes) override {}
  void end_part(std::string& out, const Part& part) override {
    out.append(tar::padding(part.size_bytes), '\0');
  }
  void end_item(std::string&) override {}

  Status failed_item(std::string&, const Outcome& outcome, OnError on_error) override {
    const Error& error = outcome.status.error();
    if (on_error == OnError::fail) return fail(error);
    json one = json_of(error);
    one["item"] = outcome.item;
    errors_.push_back(std::move(one));
    return {};
  }
  void end(std::string& out, const Totals& totals, bool is_complete) override {
    json last = json_of(totals, is_complete);
    last["errors"] = std::move(errors_);
    const std::string text = text_of(last) + "\n";
    out += tar::header({.name = kEndName, .size_bytes = text.size()});
    out += text;
    out.append(tar::padding(text.size()) + tar::kEndBytes, '\0');
  }

 private:
  const shards::BatchRequest& request_;
  json errors_ = json::array();
};

class BatchBody final : public http::BodySource {
 public:
  BatchBody(std::unique_ptr<shards::BatchReader> reader, std::span<Outcome> first,
            std::unique_ptr<Encoder> encoder, OnError on_error, std::shared_ptr<const void> keep)
      : keep_(std::move(keep)),
        reader_(std::move(reader)),
        encoder_(std::move(encoder)),
        on_error_(on_error),
        lot_(first) {}

  rt::Task<Bytes> next() override {
    out_.clear();
    while (!has_ended_ && out_.size() < kGatherBytes) {
      if (stream_ != nullptr) {
        // What stands before its bytes goes out before them. Nothing must not be handed on as long
        // as more follows: it means the end.
        if (!out_.empty()) break;
        LEAT_CO_TRY(const Bytes piece, co_await stream_->next());
        encoder_->pass(piece);
        if (!piece.empty()) co_return piece;
        stream_ = nullptr;
        end_part();
        continue;
      }
      if (at_ == lot_.size()) {
        LEAT_CO_TRY(lot_, co_await reader_->next());
        at_ = 0;
      }
      if (lot_.empty()) {
        end(true);
      } else {
        LEAT_CO_DO(step());
      }
    }
    co_return as_bytes(out_);
  }

 private:
  const BatchItem& item() const { return reader_->request().items[lot_[at_].item]; }

  // The next part of the present item, or the item's beginning or end.
  Status step() {
    const Outcome& outcome = lot_[at_];
    if (!outcome.status) {
      ++totals_.items;
      ++totals_.failed;
      LEAT_DO(encoder_->failed_item(out_, outcome, on_error_));
      ++at_;
      if (on_error_ == OnError::fail) end(false);
      return {};
    }
    if (part_ == 0) encoder_->begin_item(out_, item(), outcome);
    if (part_ < outcome.parts.size()) {
      const Part& part = outcome.parts[part_];
      encoder_->begin_part(out_, item(), part);
      stream_ = part.stream.get();
      if (stream_ != nullptr) return {};
      encoder_->pass(part.bytes);
      out_ += as_text(part.bytes);
      end_part();
      return {};
    }
    end_item();
    return {};
  }

  void end_part() {
    encoder_->end_part(out_, lot_[at_].parts[part_]);
    ++part_;
    if (part_ == lot_[at_].parts.size()) end_item();
  }

  void end_item() {
    encoder_->end_item(out_);
    ++totals_.items;
    totals_.bytes += lot_[at_].size_bytes();
    part_ = 0;
    ++at_;
  }

  void end(bool is_complete) {
    encoder_->end(out_, totals_, is_complete && totals_.failed == 0);
    has_ended_ = true;
  }

  std::shared_ptr<const void> keep_;
  std::unique_ptr<shards::BatchReader> reader_;
  std::unique_ptr<Encoder> encoder_;
  const OnError on_error_;
  std::span<Outcome> lot_;
  std::size_t at_ = 0;                      // in the lot
  std::size_t part_ = 0;                    // of the item
  shards::RangesSource* stream_ = nullptr;  // that the bytes of the present part come from
  std::string out_;
  Totals totals_;
  bool has_ended_ = false;
};

}  // namespace

http::Response batch_answer(std::unique_ptr<shards::BatchReader> reader, std::span<Outcome> first,
                            OnError on_error, Format format, std::shared_ptr<const void> keep) {
  http::Response response(200);
  std::unique_ptr<Encoder> encoder;
  if (format == Format::tar) {
    encoder = std::make_unique<TarEncoder>(reader->request());
    response.add_checked("Content-Type: application/x-tar\r\n");
  } else {
    encoder = std::make_unique<FrameEncoder>();
    response.add_checked(fmt::format("Content-Type: {}\r\n", frames::kMediaType));
  }
  auto body = std::make_unique<BatchBody>(std::move(reader), first, std::move(encoder), on_error,
                                          std::move(keep));
  response.body = http::StreamBody{.source = std::move(body), .length = std::nullopt};
  return response;
}

}  // namespace leat::training
