// The names below the directory of one disk. A key of a user never becomes one of them.
//
//   leat-disk, leat-disk.copy    who the disk is (record/identity.h)
//   leat-members                 which disks the node has (record/members.h)
//   index/                       the Kv
//   segments/                    small objects, and the history of everything
//   files/00 … ff/               large objects, by the first byte of their number
//   incoming/                    files that are being written; emptied at start
//   lost/                        files whose changes were lost, put aside by a rebuild
#pragma once

#include <fmt/format.h>

#include <string>

#include "record/types.h"

namespace leat::volume {

class Folders {
 public:
  explicit Folders(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string identity() const { return root_ + "/leat-disk"; }
  std::string identity_copy() const { return root_ + "/leat-disk.copy"; }
  std::string members() const { return root_ + "/leat-members"; }
  std::string index() const { return root_ + "/index"; }
  std::string segments() const { return root_ + "/segments"; }
  std::string files() const { return root_ + "/files"; }
  std::string incoming() const { return root_ + "/incoming"; }
  std::string lost() const { return root_ + "/lost"; }

  std::string incoming_file(record::FileId file) const {
    return fmt::format("{}/{:016x}", incoming(), file.value());
  }
  std::string file_folder(record::FileId file) const {
    return fmt::format("{}/{:02x}", files(), file.value() >> 56);
  }
  std::string file(record::FileId file) const {
    return fmt::format("{}/{:016x}", file_folder(file), file.value());
  }
  std::string lost_file(record::FileId file) const {
    return fmt::format("{}/{:016x}", lost(), file.value());
  }

 private:
  std::string root_;
};

}  // namespace leat::volume
