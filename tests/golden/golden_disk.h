// The golden disk: a small data directory made of fixed inputs by the format layer alone.
//
// Its files stand in tests/golden/disk-1/. They were written once and stay as they are: a Leat that
// cannot read them, or writes other bytes for the same inputs, has changed a format.
#pragma once

#include <map>
#include <string>

namespace leat::golden {

// By path below the directory of the disk.
std::map<std::string, std::string> make_disk();

// What it holds.
inline constexpr const char* kSmallKey = "cats/tom.txt";
inline constexpr const char* kSmallData = "meow\n";
inline constexpr const char* kLargeKey = "film";
inline constexpr const char* kTrashedKey = "old";
std::string large_data();

}  // namespace leat::golden
