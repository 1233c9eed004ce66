#include "io/unix_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "support/run_task.h"
#include "support/temp_folder.h"

namespace leat::io {
namespace {

using testing::run_task;
using testing::TempFolder;

std::size_t open_descriptors() {
  return TempFolder::names_in("/proc/self/fd").size();
}

class UnixSocketTest : public ::testing::Test {
 protected:
  struct Pair {
    std::unique_ptr<UnixStream> client;
    std::unique_ptr<UnixStream> server;
  };
  // In the listener's queue first, then taken out of it: nobody waits.
  Pair connect() {
    Pair pair;
    pair.client = connect_unix(shard, listener->name()).value();
    pair.server = run_task(shard, listener->accept()).value();
    return pair;
  }
  std::unique_ptr<File> opened(const std::string& name, std::string_view text) {
    folder.write(name, text);
    return disk.open(folder.path(name), OpenMode::read).value();
  }

  rt::Shard shard{rt::ShardId(0)};
  const TempFolder folder;
  PosixDisk disk;
  std::unique_ptr<UnixListener> listener =
      UnixListener::listen(shard, "@leat-test-" + std::to_string(::getpid())).value();
};

TEST_F(UnixSocketTest, OpenFilesTravelWithTheFirstByte) {
  const auto one = opened("one", "first");
  const auto two = opened("two", "second");
  const Pair pair = connect();
  const std::string text(1'000'000, 'x');
  const std::array<int, 2> passed = {one->descriptor(), two->descriptor()};
  std::string target(text.size(), '?');
  std::vector<Descriptor> received;
  shard.spawn(write_all_with(*pair.server, as_bytes(text), passed),
              [](const Status& status) { EXPECT_TRUE(status); });
  ASSERT_TRUE(run_task(
      shard, read_all_with(*pair.client, std::as_writable_bytes(std::span(target)), received)));
  EXPECT_TRUE(target == text);
  ASSERT_EQ(received.size(), 2U);
  const auto file = adopt_file(std::move(received[1]), "two").value();
  std::array<std::byte, 100> bytes;
  EXPECT_EQ(as_text(Bytes(bytes).first(file->read_at(0, bytes).value())), "second");
  EXPECT_EQ(::fcntl(file->descriptor(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(::fcntl(file->descriptor(), F_GETFD), FD_CLOEXEC);
}

TEST_F(UnixSocketTest, AsManyAsAMessageCarriesArriveAndNoneIsLeftOpen) {
  const auto file = opened("one", "first");
  const std::size_t before = open_descriptors();
  {
    const Pair pair = connect();
    const std::vector<int> passed(UnixStream::kDescriptorsMax, file->descriptor());
    EXPECT_EQ(pair.server->try_write_with(as_bytes("x"), passed).value(), 1U);
    EXPECT_EQ(pair.server->try_write_with(as_bytes("y"), passed).value(), 1U);
    EXPECT_EQ(pair.server->try_write_with(as_bytes("z"), passed).value(), 1U);
    std::array<std::byte, 10> bytes;
    std::vector<Descriptor> received;
    EXPECT_EQ(pair.client->try_read_with(bytes, received).value(), 1U);
    EXPECT_EQ(received.size(), UnixStream::kDescriptorsMax);
    EXPECT_EQ(pair.client->try_read(bytes).value(), 1U) << "who reads plainly gets none";
    EXPECT_EQ(open_descriptors(), before + 2 + received.size());
  }
  EXPECT_EQ(open_descriptors(), before) << "what nobody received went with the socket";
}

TEST_F(UnixSocketTest, APeerThatEndsEarlyIsNoticed) {
  Pair pair = connect();
  ASSERT_TRUE(pair.server->try_write_with(as_bytes("ha"), {}));
  pair.server.reset();
  std::array<std::byte, 4> bytes;
  std::vector<Descriptor> received;
  const auto read = run_task(shard, read_all_with(*pair.client, bytes, received));
  EXPECT_EQ(read.error().code(), Errc::closed);
}

TEST_F(UnixSocketTest, TheKernelSaysWhoIsThere) {
  const Pair pair = connect();
  const auto peer = pair.server->who();
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->process, ::getpid());
  EXPECT_EQ(peer->user, ::getuid());
}

TEST_F(UnixSocketTest, ANameIsTakenOnceAndFreeAgainLater) {
  const std::string name = listener->name();
  EXPECT_EQ(UnixListener::listen(shard, name).error().code(), Errc::conflict);
  listener.reset();
  EXPECT_EQ(connect_unix(shard, name).error().code(), Errc::unavailable);
  EXPECT_TRUE(UnixListener::listen(shard, name));
}

TEST_F(UnixSocketTest, APathIsOpenToAllAndGoneAtTheEnd) {
  const std::string path = folder.path("socket");
  auto first = UnixListener::listen(shard, path).value();
  struct stat s{};
  ASSERT_EQ(::stat(path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0666U);
  EXPECT_TRUE(connect_unix(shard, path));
  EXPECT_EQ(UnixListener::listen(shard, path).error().code(), Errc::conflict);
  first.reset();
  EXPECT_FALSE(folder.exists("socket"));
  EXPECT_EQ(connect_unix(shard, path).error().code(), Errc::not_found);
}

TEST_F(UnixSocketTest, ASocketThatACrashLeftIsTakenOver) {
  const std::string path = folder.path("socket");
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::ranges::copy(path, address.sun_path);
  {
    const Descriptor crashed(::socket(AF_UNIX, SOCK_STREAM, 0));
    const auto* where = reinterpret_cast<const sockaddr*>(&address);
    ASSERT_EQ(::bind(crashed.get(), where, sizeof(address)), 0);
  }
  ASSERT_TRUE(folder.exists("socket"));
  EXPECT_TRUE(UnixListener::listen(shard, path));
  folder.write("file", "precious");
  EXPECT_EQ(UnixListener::listen(shard, folder.path("file")).error().code(), Errc::conflict);
  EXPECT_EQ(folder.read("file"), "precious");
}

TEST_F(UnixSocketTest, NamesThatAreNoneAreRefused) {
  EXPECT_EQ(UnixListener::listen(shard, "").error().code(), Errc::bad_request);
  EXPECT_EQ(UnixListener::listen(shard, "@").error().code(), Errc::bad_request);
  EXPECT_EQ(connect_unix(shard, std::string(108, 'x')).error().code(), Errc::bad_request);
}

TEST_F(UnixSocketTest, OnlyFilesAreAdopted) {
  folder.make_pipe("pipe");
  Descriptor pipe(::open(folder.path("pipe").c_str(), O_RDWR));
  EXPECT_EQ(adopt_file(std::move(pipe), "pipe").error().code(), Errc::bad_request);
  EXPECT_FALSE(adopt_file(Descriptor(), "nothing"));
}

}  // namespace
}  // namespace leat::io
