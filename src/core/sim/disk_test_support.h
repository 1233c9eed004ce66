// What the tests of SimDisk share: a disk and short words for using it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sim/sim_disk.h"

namespace leat::sim {

inline std::string read(const io::File& file) {
  std::string text(file.info().value().size_bytes, '?');
  const std::size_t count = file.read_at(0, std::as_writable_bytes(std::span(text))).value();
  EXPECT_EQ(count, text.size());
  return text;
}

inline std::string read(io::Disk& disk, const std::string& path) {
  return read(*disk.open(path, io::OpenMode::read).value());
}

class DiskTest : public ::testing::Test {
 protected:
  std::unique_ptr<io::File> must_open(const std::string& path, io::OpenMode mode) {
    return disk.open(path, mode).value();
  }

  bool exists(const std::string& path) { return disk.info(path).has_value(); }

  std::string read(const io::File& file) { return sim::read(file); }
  std::string read(const std::string& path) { return sim::read(disk, path); }

  void write(const std::string& path, const std::string& text) {
    EXPECT_TRUE(must_open(path, io::OpenMode::create)->write_all_at(0, as_bytes(text)));
  }

  void write_durably(const std::string& path, const std::string& text) {
    auto file = must_open(path, io::OpenMode::create);
    EXPECT_TRUE(file->write_all_at(0, as_bytes(text)));
    EXPECT_TRUE(file->sync_data());
    EXPECT_TRUE(disk.sync_directory(path.substr(0, path.rfind('/') + 1)));
  }

  Timeline timeline;
  SimClock clock{timeline};
  SimDisk disk{clock, 1};
};

}  // namespace leat::sim
