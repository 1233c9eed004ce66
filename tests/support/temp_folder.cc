#include "support/temp_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace leat::testing {
namespace fs = std::filesystem;

TempFolder::TempFolder() : path_((fs::temp_directory_path() / "leat-test-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary folder: " << path_;
}

TempFolder::~TempFolder() {
  std::error_code ignored;  // what cannot be removed is the machine's to clean
  fs::remove_all(path_, ignored);
}

void TempFolder::write(std::string_view name, std::string_view text) const {
  fs::create_directories(fs::path(path(name)).parent_path());
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string TempFolder::read(std::string_view name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool TempFolder::exists(std::string_view name) const {
  return fs::exists(fs::symlink_status(path(name)));
}

void TempFolder::make_folder(std::string_view name) const {
  fs::create_directories(path(name));
}

void TempFolder::make_link(std::string_view name, std::string_view target) const {
  fs::create_symlink(target, path(name));
}

void TempFolder::make_pipe(std::string_view name) const {
  EXPECT_EQ(mkfifo(path(name).c_str(), 0644), 0);
}

std::vector<std::string> TempFolder::names_in(const std::string& path) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    found.push_back(entry.path().filename().string());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace leat::testing
