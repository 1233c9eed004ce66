#include "log/logger.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <latch>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "io/clock.h"

namespace leat::log {
namespace {

using namespace std::chrono_literals;

class FixedClock final : public io::Clock {
 public:
  Instant now() const override { return Instant{}; }
  WallTime wall_now() const override { return WallTime{1s}; }
  rt::Task<void> sleep_until(Instant) override { co_return Status{}; }
};

class MemorySink : public Sink {
 public:
  Status write(std::string_view lines) override {
    text += lines;
    return {};
  }
  std::string text;
};

// Its first writes each stop at a gate: the test learns that the writer is there, which means that
// the logger's buffer is empty, and decides when it goes on and whether the write fails.
class GatedSink final : public MemorySink {
 public:
  struct Gate {
    std::latch entered{1};
    std::latch release{1};
    bool fails = false;
  };

  Status write(std::string_view lines) override {
    if (next_ == gates.size()) return MemorySink::write(lines);
    Gate& gate = gates[next_++];
    gate.entered.count_down();
    gate.release.wait();
    if (gate.fails) return fail(Errc::closed);
    return MemorySink::write(lines);
  }
  std::array<Gate, 3> gates;

 private:
  std::size_t next_ = 0;
};

std::string line(std::string_view label, std::string_view rest) {
  std::string out("1970-01-01T00:00:01.000Z ");
  return out.append(label).append(" ").append(rest).append("\n");
}

constexpr Style kText{.format = Format::text};

TEST(Logger, WritesAcceptedLinesInOrderBeforeItEnds) {
  MemorySink sink;
  FixedClock clock;
  {
    Logger logger(sink, clock, {.level = Level::debug, .style = kText});
    logger.debug("one");
    logger.info("two");
    logger.warn("three");
    logger.error("four");
    EXPECT_EQ(logger.dropped(), 0U);
  }
  EXPECT_EQ(sink.text, line("DEBUG", "one") + line("INFO ", "two") + line("WARN ", "three") +
                           line("ERROR", "four"));
}

TEST(Logger, SkipsLinesBelowItsLevel) {
  MemorySink sink;
  FixedClock clock;
  {
    Logger logger(sink, clock, {.level = Level::warn, .style = kText});
    EXPECT_FALSE(logger.enabled(Level::info));
    EXPECT_TRUE(logger.enabled(Level::warn));
    logger.info("quiet");
    logger.warn("loud");
  }
  EXPECT_EQ(sink.text, line("WARN ", "loud"));
}

// Room for a notice and one line, or for two lines and a bit.
const std::size_t kRoom =
    line("WARN ", "log lines lost           lines=9").size() + line("INFO ", "x").size();
constexpr std::string_view kTooLong = "a line for which there is no room once two short ones wait";

TEST(Logger, PutsANoticeBeforeTheNextLineThatFits) {
  GatedSink sink;
  FixedClock clock;
  {
    Logger logger(sink, clock, {.style = kText, .buffer_max_bytes = kRoom});
    logger.info("0");
    sink.gates[0].entered.wait();
    logger.info("1");
    logger.info("2");
    logger.info(kTooLong);
    logger.info(kTooLong);
    EXPECT_EQ(logger.dropped(), 2U);
    sink.gates[0].release.count_down();
    sink.gates[1].entered.wait();
    logger.info("3");
    EXPECT_EQ(logger.dropped(), 2U);
    sink.gates[1].release.count_down();
    sink.gates[2].release.count_down();
  }
  EXPECT_EQ(sink.text, line("INFO ", "0") + line("INFO ", "1") + line("INFO ", "2") +
                           line("WARN ", "log lines lost           lines=2") + line("INFO ", "3"));
}

TEST(Logger, DropsAShortLineTooWhileItsNoticeFindsNoRoomAndTellsAtTheEnd) {
  GatedSink sink;
  FixedClock clock;
  {
    Logger logger(sink, clock, {.style = kText, .buffer_max_bytes = kRoom});
    logger.info("0");
    sink.gates[0].entered.wait();
    logger.info("1");
    logger.info(kTooLong);
    logger.info("2");
    EXPECT_EQ(logger.dropped(), 2U);
    for (auto& gate : sink.gates) {
      gate.release.count_down();
    }
  }
  EXPECT_EQ(sink.text, line("INFO ", "0") + line("INFO ", "1") +
                           line("WARN ", "log lines lost           lines=2"));
}

TEST(Logger, CountsLinesAFailingSinkRefusedAndTheLossesTheyToldOf) {
  GatedSink sink;
  FixedClock clock;
  {
    Logger logger(sink, clock, {.style = kText, .buffer_max_bytes = kRoom});
    sink.gates[0].fails = true;
    sink.gates[1].fails = true;
    logger.info("0");
    sink.gates[0].entered.wait();
    logger.info("1");
    logger.info(kTooLong);
    sink.gates[0].release.count_down();
    sink.gates[1].entered.wait();
    EXPECT_EQ(logger.dropped(), 2U);  // line 0 by the sink, the long one by the buffer
    logger.info("2");                 // with a notice of these two
    sink.gates[1].release.count_down();
    sink.gates[2].entered.wait();
    EXPECT_EQ(logger.dropped(), 3U);
    sink.gates[2].fails = true;
    sink.gates[2].release.count_down();
  }
  EXPECT_EQ(sink.text, line("WARN ", "log lines lost           lines=4"));
}

TEST(Logger, KeepsTheOrderOfEachThreadAndWholeLines) {
  constexpr int kThreads = 4;
  constexpr int kLines = 2'000;
  MemorySink sink;
  FixedClock clock;
  {
    Logger logger(sink, clock, {.style = kText, .buffer_max_bytes = 64 * 1024 * 1024});
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&logger, t] {
        for (int i = 0; i < kLines; ++i) {
          logger.info("e", {{"t", t}, {"i", i}});
        }
      });
    }
  }
  std::array<int, kThreads> next{};
  std::istringstream lines(sink.text);
  for (std::string text; std::getline(lines, text);) {
    int t = -1;
    int i = -1;
    ASSERT_EQ(std::sscanf(text.c_str(), "1970-01-01T00:00:01.000Z INFO  e t=%d i=%d", &t, &i), 2)
        << text;
    EXPECT_EQ(i, next.at(static_cast<std::size_t>(t))++);
  }
  for (const int count : next) {
    EXPECT_EQ(count, kLines);
  }
}

TEST(FdSink, WritesEverythingThroughAPipeThatIsOftenFull) {
  for (const int flags : {0, O_NONBLOCK}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), flags), 0);
    // The reader's end blocks; only the sink's may be non-blocking.
    ASSERT_EQ(fcntl(ends[0], F_SETFL, 0), 0);
    std::string sent;
    for (int i = 0; i < 100'000; ++i) {
      sent += std::to_string(i) + "\n";
    }
    std::string received;
    std::jthread reader([&received, fd = ends[0]] {
      std::array<char, 1000> chunk{};
      for (ssize_t n = 0; (n = read(fd, chunk.data(), chunk.size())) > 0;) {
        received.append(chunk.data(), static_cast<std::size_t>(n));
      }
    });
    FdSink sink(ends[1]);
    EXPECT_TRUE(sink.write(sent).has_value());
    close(ends[1]);
    reader.join();
    close(ends[0]);
    EXPECT_EQ(received, sent);
  }
}

TEST(FdSink, ReportsAClosedDescriptor) {
  FdSink sink(-1);
  EXPECT_FALSE(sink.write("x\n").has_value());
}

}  // namespace
}  // namespace leat::log
