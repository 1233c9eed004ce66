// TempFolder: a real folder that is gone when the test is, with short words for putting things in
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leat::testing {

// Names are relative to the folder.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Makes the folders above it, too.
  void write(std::string_view name, std::string_view text) const;
  std::string read(std::string_view name) const;
  bool exists(std::string_view name) const;
  void make_folder(std::string_view name) const;
  void make_link(std::string_view name, std::string_view target) const;
  void make_pipe(std::string_view name) const;

  // What is directly inside a folder of the machine, sorted.
  static std::vector<std::string> names_in(const std::string& path);

 private:
  std::string path_;
};

}  // namespace leat::testing
