// KvWorld: a map on a simulated disk, and a history of batches whose survivors are easy to judge.
//
// Batch n writes its number under keys of its own, under the two ends of the map and over a few
// shared keys, and erases what batch n - 3 wrote. So what a crash left says which prefix of the
// history it is, and a batch that is half there shows.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "kv/kv.h"
#include "sim/sim_disk.h"

namespace leat::kv {

inline constexpr const char* kFolder = "disk/index";
inline constexpr KvOptions kQuiet = {
    .cache_bytes = 1 << 20, .memory_bytes = 8 << 20, .quiet = true};

using Content = std::map<std::string, std::string>;

inline std::string value_of(int batch, int place) {
  return fmt::format("{} at {} {}", batch, place, std::string(40, static_cast<char>('a' + place)));
}

// Calls put(key, value) and erase(key) with the changes of one batch.
template <class Target>
void change(Target& target, int batch) {
  target.put("a first", std::to_string(batch));
  for (int i = 0; i < 6; ++i) {
    target.put(fmt::format("own {:04} {}", batch, i), value_of(batch, i));
    if (batch > 3) target.erase(fmt::format("own {:04} {}", batch - 3, i));
    if ((batch + i) % 3 == 0) target.put(fmt::format("shared {}", i), value_of(batch, i));
  }
  target.put("z last", std::to_string(batch));
}

// What the map holds after batches 1 to `count`.
inline Content content_after(int count) {
  struct Model {
    Content content;
    void put(const std::string& key, const std::string& value) { content[key] = value; }
    void erase(const std::string& key) { content.erase(key); }
  } model;
  for (int batch = 1; batch <= count; ++batch) {
    change(model, batch);
  }
  return std::move(model.content);
}

inline Status write_batch(Kv& map, int number) {
  Batch batch;
  change(batch, number);
  return map.write(batch);
}

// Everything, by a cursor from the beginning to the end.
inline Result<Content> read_all(const Kv& map) {
  Content content;
  Cursor cursor = map.cursor();
  for (cursor.seek(""); cursor.is_valid(); cursor.next()) {
    content.emplace(cursor.key(), cursor.value());
  }
  LEAT_DO(cursor.status());
  return content;
}

// The number of batches that the map holds; fails the test unless they are a prefix of the history.
inline int batches_in(const Kv& map) {
  const auto content = read_all(map);
  EXPECT_TRUE(content) << content.error().message();
  if (!content || content->empty()) return 0;
  const auto first = content->find("a first");
  const int count = first == content->end() ? 0 : std::stoi(first->second);
  EXPECT_EQ(*content, content_after(count));
  return count;
}

inline std::unique_ptr<Kv> must_open(io::Disk& disk, const std::string& folder = kFolder,
                                     KvOptions options = kQuiet) {
  auto opened = Kv::open(disk, folder, options);
  EXPECT_TRUE(opened) << opened.error().message();
  return opened ? *std::move(opened) : nullptr;
}

// Writes batches `from` to `to` and flushes them.
inline void write_and_flush(Kv& map, int from, int to) {
  for (int batch = from; batch <= to; ++batch) {
    ASSERT_TRUE(write_batch(map, batch));
  }
  const Status done = map.flush();
  ASSERT_TRUE(done) << done.error().message();
}

class KvWorld : public ::testing::Test {
 protected:
  sim::Timeline timeline;
  sim::SimClock clock{timeline};
  sim::SimDisk disk{clock, 1};
};

}  // namespace leat::kv
