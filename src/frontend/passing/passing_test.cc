// The socket that passes files: real sockets and files, simulated time.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "passing/desk.h"
#include "sim/world.h"
#include "support/temp_folder.h"

namespace leat::passing {
namespace {

using namespace std::chrono_literals;
using handover::Ticket;
using testing::TempFolder;

// Lines nobody reads.
class NoSink final : public log::Sink {
 public:
  Status write(std::string_view) override { return {}; }
};

std::size_t open_descriptors() {
  return TempFolder::names_in("/proc/self/fd").size();
}

rt::Task<std::vector<OpenFile>> no_files() {
  co_return std::vector<OpenFile>{};
}

TEST(Tickets, AreGoodOnceAndForAWhile) {
  io::SeededRng rng(1);
  Tickets tickets(rng, {.tickets_max = 3, .life = 60s});
  const Instant begin{};
  const auto first = tickets.issue(begin, no_files);
  const auto second = tickets.issue(begin + 30s, no_files);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_TRUE(tickets.redeem(begin + 59s, *first));
  EXPECT_FALSE(tickets.redeem(begin + 59s, *first)) << "it was used";
  EXPECT_FALSE(tickets.redeem(begin + 90s, *second)) << "it is too old";
  EXPECT_FALSE(tickets.redeem(begin + 59s, *second)) << "and was forgotten";
  EXPECT_FALSE(tickets.redeem(begin, Ticket{})) << "it never was";
  EXPECT_EQ(tickets.size(), 0U);
}

TEST(Tickets, AreBoundedAndMakeRoomWhenTheyAreOld) {
  io::SeededRng rng(2);
  Tickets tickets(rng, {.tickets_max = 2, .life = 60s});
  const Instant begin{};
  EXPECT_TRUE(tickets.issue(begin, no_files));
  const auto second = tickets.issue(begin + 1s, no_files);
  EXPECT_FALSE(tickets.issue(begin + 59s, no_files));
  EXPECT_TRUE(tickets.issue(begin + 60s, no_files)) << "the first is over";
  EXPECT_FALSE(tickets.issue(begin + 60s, no_files));
  EXPECT_TRUE(tickets.redeem(begin + 60s, *second));
  EXPECT_TRUE(tickets.issue(begin + 60s, no_files)) << "a used one makes room at once";
}

class DeskTest : public ::testing::Test {
 protected:
  DeskTest() {
    EXPECT_TRUE(desk_.listen(fmt::format("@leat-desk-{}", ::getpid())));
    desk_.start();
    folder_.write("a", "the bytes");
  }
  ~DeskTest() override {
    if (is_stopped_) return;
    EXPECT_TRUE(world_.run(desk_.stop()));
  }

  rt::Task<std::vector<OpenFile>> open_some(std::size_t count) {
    std::vector<OpenFile> files;
    for (std::size_t i = 0; i < count; ++i) {
      LEAT_CO_TRY(auto file, disk_.open(folder_.path("a"), io::OpenMode::read));
      files.push_back({.file = std::move(file), .part = {.size_bytes = 9, .sums = "sums"}});
    }
    co_return files;
  }
  static rt::Task<std::vector<OpenFile>> refuse() {
    co_return fail(Errc::not_found, "it was replaced");
  }

  Ticket ticket(Opener opener) {
    std::vector<Opener> openers;
    openers.push_back(std::move(opener));
    return world_.run(desk_.issue(std::move(openers), world_.shard())).value().front().value();
  }
  Ticket ticket_for(std::size_t files) {
    return ticket([this, files] { return open_some(files); });
  }

  std::unique_ptr<io::UnixStream> connect() {
    return io::connect_unix(world_.shard(), desk_.socket()).value();
  }

  static rt::Task<handover::Answer> converse(io::UnixStream& stream, const Ticket& ticket,
                                             std::vector<io::Descriptor>& descriptors) {
    const Bytes sent(ticket);
    const std::span<const int> nothing;
    LEAT_CO_DO(co_await io::write_all_with(stream, sent, nothing));
    std::vector<std::byte> whole(handover::kHeadBytes);
    const MutableBytes first(whole);
    LEAT_CO_DO(co_await io::read_all_with(stream, first, descriptors));
    LEAT_CO_TRY(const handover::Head head, handover::decode_head(whole));
    whole.resize(whole.size() + head.body_bytes);
    const MutableBytes rest = MutableBytes(whole).subspan(handover::kHeadBytes);
    LEAT_CO_DO(co_await io::read_all_with(stream, rest, descriptors));
    co_return handover::decode(whole);
  }
  Result<handover::Answer> ask(io::UnixStream& stream, const Ticket& ticket) {
    descriptors_.clear();
    return world_.run(converse(stream, ticket, descriptors_));
  }
  // What a client sees that only listens.
  std::string wait_end(io::UnixStream& stream) {
    std::array<std::byte, 10> bytes{};
    const auto got = world_.run(io::read_some(stream, bytes));
    return got && *got == 0 ? "end" : got ? "bytes" : "error";
  }

  const TempFolder folder_;
  io::PosixDisk disk_;
  sim::SimWorld world_{3};
  NoSink sink_;
  log::Logger logger_{sink_, world_.clock("node")};
  metrics::Registry metrics_;
  Desk desk_{{.shard = world_.shard(),
              .clock = world_.clock("node"),
              .rng = world_.rng(),
              .logger = logger_,
              .metrics = metrics_},
             {.connections_max = 4}};
  std::vector<io::Descriptor> descriptors_;
  bool is_stopped_ = false;
};

TEST_F(DeskTest, ATicketIsAnsweredWithFilesAndTheirChecksums) {
  const auto stream = connect();
  const auto answer = ask(*stream, ticket_for(2));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 200U);
  ASSERT_EQ(answer->files.size(), 2U);
  EXPECT_EQ(answer->files[0].sums, "sums");
  ASSERT_EQ(descriptors_.size(), 2U);
  const auto file = io::adopt_file(std::move(descriptors_[0]), "a").value();
  std::array<std::byte, 9> bytes;
  EXPECT_EQ(file->read_at(0, bytes).value(), 9U);
  EXPECT_EQ(as_text(bytes), "the bytes");
  EXPECT_FALSE(file->write_at(0, bytes)) << "it is for reading";
  EXPECT_EQ(ask(*stream, ticket_for(handover::kFilesMax))->files.size(), handover::kFilesMax)
      << "another one on the same connection";
}

TEST_F(DeskTest, ATicketIsGoodOnce) {
  const Ticket once = ticket_for(1);
  const auto stream = connect();
  EXPECT_EQ(ask(*stream, once)->status, 200U);
  EXPECT_EQ(ask(*stream, once)->status, 404U);
  EXPECT_EQ(descriptors_.size(), 0U);
  EXPECT_EQ(wait_end(*stream), "end") << "who guesses has to connect again";
}

TEST_F(DeskTest, ForgedAndOldTicketsAreRefusedAlike) {
  const auto forged = ask(*connect(), Ticket{});
  const Ticket old = ticket_for(1);
  world_.run_for(61s);
  EXPECT_EQ(ask(*connect(), old), *forged);
  EXPECT_EQ(forged->status, 404U);
}

TEST_F(DeskTest, WhatCannotBeOpenedIsSaid) {
  const auto gone = ask(*connect(), ticket([] { return refuse(); }));
  EXPECT_EQ(gone->status, 404U);
  EXPECT_EQ(gone->message, "it was replaced");
  EXPECT_EQ(ask(*connect(), ticket_for(handover::kFilesMax + 1))->status, 501U);
  EXPECT_EQ(ask(*connect(), ticket_for(0))->status, 501U);
}

TEST_F(DeskTest, ATicketThatComesInPiecesIsTaken) {
  const auto stream = connect();
  const Ticket whole = ticket_for(1);
  for (const std::byte byte : whole) {
    EXPECT_TRUE(stream->try_write_with(Bytes(&byte, 1), {}));
    world_.run_for(10ms);
  }
  EXPECT_TRUE(world_.run(stream->wait(io::Interest::read)));
  std::array<std::byte, 100> bytes;
  EXPECT_GT(stream->try_read_with(bytes, descriptors_).value(), handover::kHeadBytes);
  EXPECT_EQ(descriptors_.size(), 1U);
}

TEST_F(DeskTest, AClientThatSaysNothingIsCutOff) {
  const auto silent = connect();
  const auto slow = connect();
  EXPECT_TRUE(slow->try_write_with(as_bytes("half a "), {}));
  world_.run_for(5s);
  EXPECT_EQ(desk_.connections(), 2U);
  world_.run_for(6s);
  EXPECT_EQ(desk_.connections(), 0U);
  EXPECT_EQ(wait_end(*silent), "end");
}

// It asks for more than the kernel buffers and reads nothing.
TEST_F(DeskTest, AClientThatDoesNotReadHoldsUpNobodyAndNothing) {
  const std::size_t before = open_descriptors();
  {
    const auto stuck = connect();
    Result<std::size_t> sent = 0;
    for (int i = 0; i < 1000 && sent; ++i) {
      const Ticket one = ticket_for(2);
      sent = stuck->try_write_with(Bytes(one), {});
    }
    EXPECT_EQ(sent.error().code(), Errc::would_block) << "nobody listens to it any more";
    world_.run_for(1s);
    EXPECT_EQ(desk_.connections(), 1U);
    EXPECT_EQ(ask(*connect(), ticket_for(1))->status, 200U);
    world_.run_for(11s);
    EXPECT_EQ(desk_.connections(), 0U);
  }
  descriptors_.clear();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(DeskTest, ConnectionsAreBounded) {
  std::vector<std::unique_ptr<io::UnixStream>> many;
  for (int i = 0; i < 6; ++i)
    many.push_back(connect());
  world_.run_for(1s);
  EXPECT_EQ(desk_.connections(), 4U);
  EXPECT_EQ(wait_end(*many[5]), "end");
  many.resize(2);
  world_.run_for(1s);
  EXPECT_EQ(desk_.connections(), 2U);
  EXPECT_EQ(ask(*connect(), ticket_for(1))->status, 200U);
}

TEST_F(DeskTest, DescriptorsThatAClientSendsAreDropped) {
  const std::size_t before = open_descriptors();
  {
    const auto stream = connect();
    const Ticket one = ticket_for(1);
    const std::array<int, 3> gifts = {0, 1, 2};
    const Bytes bytes(one);
    EXPECT_EQ(stream->try_write_with(bytes.first(1), gifts).value(), 1U);
    world_.run_for(1s);
    EXPECT_EQ(open_descriptors(), before + 2) << "both ends of the connection";
    EXPECT_EQ(stream->try_write_with(bytes.subspan(1), gifts).value(), one.size() - 1);
    world_.run_for(1s);
    EXPECT_EQ(open_descriptors(), before + 2) << "and nothing was kept meanwhile";
  }
  world_.run_for(1s);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(DeskTest, StoppingCutsWhoIsThereAndRefusesWhoComes) {
  const auto idle = connect();
  world_.run_for(1s);
  const std::string name = desk_.socket();
  EXPECT_TRUE(world_.run(desk_.stop()));
  is_stopped_ = true;
  EXPECT_EQ(desk_.connections(), 0U);
  EXPECT_EQ(wait_end(*idle), "end");
  EXPECT_FALSE(io::connect_unix(world_.shard(), name));
}

TEST_F(DeskTest, SocketNamesAreNotToBeGuessed) {
  const std::string one = random_socket_name(world_.rng());
  EXPECT_TRUE(one.starts_with("@leat-"));
  EXPECT_EQ(one.size(), 6U + 32U);
  EXPECT_NE(one, random_socket_name(world_.rng()));
}

}  // namespace
}  // namespace leat::passing
