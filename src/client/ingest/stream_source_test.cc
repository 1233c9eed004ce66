#include "ingest/stream_source.h"

#include <gtest/gtest.h>

#include "httpclient/scripted_server_test.h"
#include "s3client/endpoint.h"
#include "support/tar_maker.h"

namespace leat::ingest {
namespace {

class TextSource final : public transfer::ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  rt::Task<std::size_t> read(MutableBytes target) override {
    const Bytes next = as_bytes(text_).subspan(at_);
    const std::size_t count = std::min(target.size(), next.size());
    std::ranges::copy(next.first(count), target.begin());
    at_ += count;
    co_return count;
  }

 private:
  const std::string text_;
  std::size_t at_ = 0;
};

// Samples stay in the reservoir of the writer: nothing is sent.
class StreamSourceTest : public ::testing::Test {
 protected:
  Status write(const std::vector<std::pair<std::string, std::string>>& members) {
    TextSource source(test::tar_of(members));
    auto writing = write_archive(tools_, source, writer_, gathering_, 1000);
    Status done = world_.run(std::move(writing));
    EXPECT_TRUE(world_.run(writer_.abort()));
    return done;
  }

  sim::SimWorld world_{5};
  io::Watchdog watchdog_{world_.clock("here"), std::chrono::milliseconds(100)};
  s3client::S3Client client_{
      {world_.shard(), world_.network("here"), world_.clock("here"), watchdog_, world_.rng()},
      {.endpoint = s3client::parse_endpoint("http://server").value()}};
  rt::BlockingPool pool_{"test", 0, 1};
  transfer::MemoryBudget memory_{64 * kMiB};
  transfer::Counters counters_;
  transfer::TransferOptions options_;
  transfer::Tools tools_{world_.shard(), client_, world_.disk("here"), world_.file_io("here"),
                         pool_,          memory_, counters_,           options_};
  Writer writer_{tools_, world_.rng(), {.bucket = "b", .name = "n", .transaction = "t"}};
  Gathering gathering_{.complain = [](const std::string&, const Error&) {}};
};

TEST_F(StreamSourceTest, SamplesAreMeasuredEachByItself) {
  const std::string most(600, 'x');
  const Status done = write({{"1.cls", "1"}, {"1.jpg", most}, {"2.jpg", most}, {"3.jpg", most}});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(writer_.samples(), 3U);
  EXPECT_EQ(gathering_.findings.files, 4U);
}

TEST_F(StreamSourceTest, ASampleThatIsTooLargeEndsTheStream) {
  const std::string most(600, 'x');
  EXPECT_EQ(write({{"1.jpg", most}, {"2.jpg", most}, {"2.png", most}}).error().code(),
            Errc::too_large);
}

}  // namespace
}  // namespace leat::ingest
