#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "io/cache_probe.h"
#include "io/descriptor.h"
#include "io/disk.h"

namespace leat::io {
namespace {

Error os_error(std::string_view call, std::string_view path) {
  return Error::from_errno(errno, fmt::format("{} {}", call, path));
}

WallTime to_time(const timespec& time) {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

FileInfo to_info(const struct stat& s) {
  return {.size_bytes = static_cast<std::uint64_t>(s.st_size),
          .modified = to_time(s.st_mtim),
          .changed = to_time(s.st_ctim),
          .inode = s.st_ino,
          .is_directory = S_ISDIR(s.st_mode)};
}

EntryKind kind_of(const struct stat& s) {
  if (S_ISREG(s.st_mode)) return EntryKind::file;
  if (S_ISDIR(s.st_mode)) return EntryKind::folder;
  return S_ISLNK(s.st_mode) ? EntryKind::link : EntryKind::other;
}

// Reads until the target is full or the file ends.
Result<std::size_t> read_fully(int fd, std::uint64_t offset, MutableBytes target,
                               const std::string& path) {
  std::size_t done = 0;
  while (done < target.size()) {
    const ssize_t n =
        ::pread(fd, target.data() + done, target.size() - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os_error("read", path));
    done += static_cast<std::size_t>(n);
  }
  return done;
}

// Calls `visit` with each name but "." and "..", and a descriptor of the folder.
template <class Visit>
Status for_each_name(Descriptor fd, const std::string& path, Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), ::closedir);
  if (folder == nullptr) return fail(os_error("list", path));
  (void)fd.release();  // closedir closes it
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") LEAT_DO(visit(name, ::dirfd(folder.get())));
    errno = 0;
  }
  if (errno != 0) return fail(os_error("list", path));
  return {};
}

// The part of a path after its last slash.
const char* last_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

int open_flags(OpenMode mode) {
  switch (mode) {
    case OpenMode::read: return O_RDONLY;
    case OpenMode::read_write: return O_RDWR;
    case OpenMode::create: return O_RDWR | O_CREAT;
    case OpenMode::create_new:
    case OpenMode::create_private: return O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::read_uncached: return O_RDONLY | O_DIRECT;
  }
  LEAT_CHECK(false);
}

// What cachestat(2) fills in; the C library of Debian 12 does not know the call yet.
struct CacheStatRange {
  std::uint64_t offset;
  std::uint64_t length;
};
struct CacheStat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};
constexpr long kCacheStatCall = 451;

class LockedMapping final : public Mapping {
 public:
  LockedMapping(void* address, std::size_t length) : address_(address), length_(length) {}
  LockedMapping(const LockedMapping&) = delete;
  LockedMapping& operator=(const LockedMapping&) = delete;
  ~LockedMapping() override { ::munmap(address_, length_); }

  Bytes bytes() const override { return {static_cast<const std::byte*>(address_), length_}; }

 private:
  void* address_;
  std::size_t length_;
};

class PosixFile final : public File {
 public:
  PosixFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes target) const override {
    return read_fully(fd_.get(), offset, target, path_);
  }

  Result<std::size_t> write_at(std::uint64_t offset, Bytes source) override {
    while (true) {
      const ssize_t n =
          ::pwrite(fd_.get(), source.data(), source.size(), static_cast<off_t>(offset));
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return fail(os_error("write", path_));
    }
  }

  Status sync_data() override {
    if (::fdatasync(fd_.get()) != 0) return fail(failed_sync(errno, "fdatasync " + path_));
    return {};
  }

  Status truncate(std::uint64_t size_bytes) override {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size_bytes)) != 0) {
      return fail(os_error("truncate", path_));
    }
    return {};
  }

  Result<std::size_t> try_read_at(std::uint64_t offset, MutableBytes target) const override {
    std::size_t done = 0;
    while (done < target.size()) {
      iovec rest{target.data() + done, target.size() - done};
      const auto at = static_cast<off_t>(offset + done);
      const ssize_t n = ::preadv2(fd_.get(), &rest, 1, at, RWF_NOWAIT);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EAGAIN || errno == EOPNOTSUPP)) return fail(Errc::would_block);
      if (n < 0) return fail(os_error("read", path_));
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  Result<FileInfo> info() const override {
    struct stat s{};
    if (::fstat(fd_.get(), &s) != 0) return fail(os_error("stat", path_));
    return to_info(s);
  }

  Status set_modified(WallTime time) override {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    timespec times[2] = {};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = seconds.time_since_epoch().count();
    times[1].tv_nsec = (time - seconds).count();
    if (::futimens(fd_.get(), times) != 0) return fail(os_error("set the time of", path_));
    return {};
  }

  Status lock() override {
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) return {};
    if (errno == EWOULDBLOCK) return fail(Errc::conflict, path_ + " is locked by another process");
    return fail(os_error("lock", path_));
  }

  bool is_cached(std::uint64_t offset, std::uint64_t length) const override {
    CacheStatRange range{offset, length};
    CacheStat stat{};
    if (::syscall(kCacheStatCall, fd_.get(), &range, &stat, 0) == 0) {
      const std::uint64_t page = 4096;
      const std::uint64_t pages = (offset + length + page - 1) / page - offset / page;
      return stat.cached >= pages;
    }
    return is_cached_by_reads(fd_.get(), offset, length);
  }

  Result<std::unique_ptr<Mapping>> map_locked(std::uint64_t length) const override {
    void* address = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (address == MAP_FAILED) return fail(os_error("map", path_));
    auto mapping = std::make_unique<LockedMapping>(address, length);
    // What exceeds the limit is ENOMEM, or EPERM when nothing may be locked at all.
    if (::mlock(address, length) != 0) {
      if (errno == ENOMEM || errno == EPERM) return fail(Errc::busy, "too much locked memory");
      return fail(os_error("lock in memory", path_));
    }
    return mapping;
  }

  int descriptor() const override { return fd_.get(); }

 private:
  Descriptor fd_;
  std::string path_;
};

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::unique_ptr<File>> adopt_file(Descriptor fd, std::string name) {
  struct stat s{};
  if (::fstat(fd.get(), &s) != 0) return fail(os_error("stat", name));
  if (!S_ISREG(s.st_mode)) return fail(Errc::bad_request, name + " is no regular file");
  return std::make_unique<PosixFile>(std::move(fd), std::move(name));
}

Result<PosixDisk> PosixDisk::below(const std::string& root) {
  const PosixDisk machine;
  LEAT_TRY(Descriptor fd, machine.open_descriptor(root, O_PATH | O_DIRECTORY));
  return PosixDisk(std::move(fd));
}

Result<Descriptor> PosixDisk::open_descriptor(const std::string& path, int flags,
                                              std::uint64_t permissions) const {
  const bool rooted = root_.get() >= 0;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  if ((flags & O_CREAT) != 0) how.mode = permissions;
  if (rooted) how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const int base = rooted ? root_.get() : AT_FDCWD;
  const long fd = ::syscall(SYS_openat2, base, path.c_str(), &how, sizeof(how));
  if (fd >= 0) return Descriptor(static_cast<int>(fd));
  // A path that would leave the root does not exist for us.
  if (errno == EXDEV || errno == ELOOP)
    return fail(Errc::not_found, path + " is not below the root");
  return fail(os_error("open", path));
}

Result<Descriptor> PosixDisk::open_parent(const std::string& path) const {
  std::string parent = path.substr(0, path.size() - std::strlen(last_name(path)));
  if (parent.empty()) parent = ".";
  return open_descriptor(parent, O_PATH | O_DIRECTORY);
}

Result<std::unique_ptr<File>> PosixDisk::open(const std::string& path, OpenMode mode) {
  const std::uint64_t permissions = mode == OpenMode::create_private ? 0600 : 0644;
  const int flags = open_flags(mode);
  // Opening a pipe waits for its other end, for ever if need be; non-blocking it does not.
  LEAT_TRY(Descriptor fd, open_descriptor(path, flags | O_NONBLOCK, permissions));
  struct stat s{};
  if (::fstat(fd.get(), &s) != 0) return fail(os_error("stat", path));
  if (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
    return fail(Errc::not_found, path + " is no file but a pipe, socket or device");
  }
  // io_uring takes the flag at its word: reads of cold bytes would end in EAGAIN.
  if (::fcntl(fd.get(), F_SETFL, flags & O_DIRECT) != 0) return fail(os_error("fcntl", path));
  return std::make_unique<PosixFile>(std::move(fd), path);
}

Result<FileInfo> PosixDisk::info(const std::string& path) {
  LEAT_TRY(const Descriptor fd, open_descriptor(path, O_PATH));
  struct stat s{};
  if (::fstat(fd.get(), &s) != 0) return fail(os_error("stat", path));
  return to_info(s);
}

Status PosixDisk::rename(const std::string& from, const std::string& to) {
  LEAT_TRY(const Descriptor from_folder, open_parent(from));
  LEAT_TRY(const Descriptor to_folder, open_parent(to));
  if (::renameat(from_folder.get(), last_name(from), to_folder.get(), last_name(to)) != 0) {
    return fail(os_error("rename to", to));
  }
  return {};
}

Status PosixDisk::remove(const std::string& path) {
  LEAT_TRY(const Descriptor folder, open_parent(path));
  if (::unlinkat(folder.get(), last_name(path), 0) != 0) return fail(os_error("remove", path));
  return {};
}

Status PosixDisk::make_directories(const std::string& path) {
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    // "/a//b/": before the first slash, between two and after the last there is no name.
    if (!prefix.empty() && !prefix.ends_with('/')) {
      LEAT_TRY(const Descriptor folder, open_parent(prefix));
      if (::mkdirat(folder.get(), last_name(prefix), 0755) != 0 && errno != EEXIST) {
        return fail(os_error("make directory", prefix));
      }
    }
    if (end == std::string::npos) break;
  }
  LEAT_TRY(const FileInfo made, info(path));
  if (!made.is_directory) return fail(Errc::conflict, path + " is not a directory");
  return {};
}

Result<std::vector<std::string>> PosixDisk::list(const std::string& path) {
  LEAT_TRY(Descriptor fd, open_descriptor(path, O_RDONLY | O_DIRECTORY));
  std::vector<std::string> names;
  LEAT_DO(for_each_name(std::move(fd), path, [&](std::string_view name, int) -> Status {
    names.emplace_back(name);
    return {};
  }));
  std::ranges::sort(names);
  return names;
}

Result<std::vector<FolderEntry>> PosixDisk::look(const std::string& path) {
  LEAT_TRY(Descriptor fd, open_descriptor(path, O_RDONLY | O_DIRECTORY));
  std::vector<FolderEntry> entries;
  LEAT_DO(for_each_name(std::move(fd), path, [&](std::string_view name, int folder) -> Status {
    std::string text(name);
    struct stat s{};
    if (::fstatat(folder, text.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};
      return fail(os_error("stat", fmt::format("{}/{}", path, name)));
    }
    entries.push_back({.name = std::move(text), .kind = kind_of(s), .info = to_info(s)});
    return {};
  }));
  std::ranges::sort(entries, {}, &FolderEntry::name);
  return entries;
}

Result<FileRead> PosixDisk::read_file(const std::string& path, std::uint64_t offset,
                                      MutableBytes target) {
  LEAT_TRY(const Descriptor fd, open_descriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  FileRead read;
  struct stat s{};
  // A pipe has nothing to read at a place: it fails before it is known to be none.
  auto count = read_fully(fd.get(), offset, target, path);
  if (::fstat(fd.get(), &s) != 0) return fail(os_error("stat", path));
  if (!S_ISREG(s.st_mode)) return fail(Errc::not_found, path + " is no file");
  LEAT_TRY(read.count, std::move(count));
  read.info = to_info(s);
  return read;
}

Status PosixDisk::sync_directory(const std::string& path) {
  LEAT_TRY(const Descriptor fd, open_descriptor(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(fd.get()) != 0) return fail(failed_sync(errno, "fsync " + path));
  return {};
}

Result<DiskSpace> PosixDisk::space(const std::string& path) {
  LEAT_TRY(const Descriptor fd, open_descriptor(path, O_RDONLY | O_DIRECTORY));
  struct statvfs s{};
  if (::fstatvfs(fd.get(), &s) != 0) return fail(os_error("statvfs", path));
  return DiskSpace{.total_bytes = s.f_blocks * s.f_frsize,
                   .available_bytes = s.f_bavail * s.f_frsize};
}

}  // namespace leat::io
