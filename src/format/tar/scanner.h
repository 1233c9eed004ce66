// Scanner: reads a tar archive that comes in pieces, and says where each member's bytes stand.
//
//   Scanner scanner([&](const Member& member) { … });
//   scanner.feed(first);
//   scanner.feed(second);
//   scanner.finish();
//   if (scanner.state() == Scanner::State::ended) …            // a whole archive, nothing odd
//
// It keeps one block, or the body of one extension (a long name, PAX records), and nothing of the
// data. It reads v7, ustar, GNU and PAX archives that are not compressed. Where readers of tar
// differ about what a member is or where the next one begins, it is `broken` and does not choose:
// what it lists, Python's tarfile and libarchive list the same. README.md has the rules.
//
// Shard: one at a time. Lifetime: what on_member refers to outlives the scanner.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace leat::tar {

constexpr std::size_t kBlockBytes = 512;

enum class Kind : std::uint8_t { file, directory, link, other };

struct Member {
  std::string name{};  // bytes as they are in the archive; a directory's may end in a slash
  Kind kind = Kind::file;
  std::uint64_t start = 0;  // of its first header block, those of PAX and GNU extensions included
  std::uint64_t data_offset = 0;
  std::uint64_t size_bytes = 0;  // of the data; 0 of links, directories and devices

  bool operator==(const Member&) const = default;
};

// One header block, understood (tar/header.h).
struct Header;

struct Limits {
  std::uint64_t extension_max_bytes = kMiB;  // one body of PAX records or of a long name
  std::uint64_t name_max_bytes = 64 * kKiB;
};

class Scanner {
 public:
  enum class State : std::uint8_t {
    undecided,  // fewer than 512 bytes so far
    not_tar,    // something else; problem() is empty
    reading,
    ended,   // the end-of-archive blocks came; what follows them can still make it broken
    broken,  // a tar, but not a sound one: problem()
  };

  explicit Scanner(std::function<void(const Member&)> on_member, Limits limits = {});

  // The next bytes. Members are announced when their header is complete, before their data.
  void feed(Bytes bytes);

  // How many of the next bytes it does not look at: the caller may skip() instead of reading them.
  // Without limit (the largest number) once it is not_tar or broken.
  std::uint64_t skippable() const;
  // Requires: bytes <= skippable().
  void skip(std::uint64_t bytes);

  // No more bytes come. Requires: called once, last. Ensures: not_tar, ended or broken.
  void finish();

  State state() const { return state_; }
  const std::string& problem() const { return problem_; }  // why it is broken, and at which byte
  std::uint64_t offset() const { return offset_; }         // bytes fed and skipped

 private:
  // What stood in the extensions before a member's own header.
  struct Extensions {
    std::optional<std::uint64_t> start{};
    std::optional<std::string> long_name{};
    std::optional<std::string> path{};
    std::optional<std::uint64_t> size_bytes{};
    bool has_long_link = false;
    bool has_pax = false;
  };
  enum class Body : std::uint8_t { none, long_name, long_link, pax, pax_global };

  bool is_done() const { return state_ == State::not_tar || state_ == State::broken; }
  std::size_t block_bytes() const;  // how many bytes the next step needs
  void take(Bytes block);
  void take_first(Bytes block);
  void take_header(Bytes block);
  void take_behind_end(Bytes block);
  void take_body(Bytes body);
  void begin_body(Body body, const Header& header);
  void take_pax(std::string_view records);
  void take_global(std::string_view records);
  void take_member(const Header& header);
  std::optional<std::string> name_of(const Header& header);
  std::optional<std::uint64_t> size_of(const Header& header);
  void finish_reading();
  void set_broken(std::string_view why, std::uint64_t at);

  std::function<void(const Member&)> on_member_;
  Limits limits_;
  State state_ = State::undecided;
  std::string problem_;
  std::uint64_t offset_ = 0;
  std::uint64_t data_left_ = 0;   // of the present member, with its padding
  std::uint64_t block_at_ = 0;    // where the present block or body began
  std::string partial_;           // of the present block or body
  Body body_ = Body::none;        // what the next bytes are the body of
  std::uint64_t body_bytes_ = 0;  // its size, without padding
  bool is_after_zeros_ = false;   // one zero block came
  bool is_after_global_ = false;  // and no member came since
  bool has_seen_pax_ = false;
  Extensions extensions_;
};

}  // namespace leat::tar
