// LocalShards: opens objects of a node that runs on the same machine, for reading without HTTP.
//
//   LEAT_CO_TRY(const LocalObjectPtr shard, co_await shards.open(name, etag));   // on the shard
//   Status read = shard->read(offset, target);                                   // on any thread
//
// The right to read is asked for over HTTP with the caller's key; the files come over a Unix socket
// (docs/adr/0018-open-files-for-clients-of-the-same-machine.md). What cannot be had so is
// Errc::not_implemented, and is read over HTTP: small objects, a node that is elsewhere or that has
// the socket turned off. Once the node turned out to be out of reach nobody asks again.
//
// Objects are kept open, the least recently used dropped first, within a bound of descriptors;
// whoever still reads one keeps it.
//
// Shard: one. Lifetime: what it stands on and the client outlive it and its tasks.
#pragma once

#include <list>
#include <map>
#include <string>

#include "io/watchdog.h"
#include "local/local_object.h"
#include "s3client/s3client.h"

namespace leat::local {

struct LocalOptions {
  // Kept open. A process has 1024 descriptors unless somebody raised that.
  std::size_t descriptors_max = 256;
  // How long the node may take to pass the files.
  Duration patience = std::chrono::seconds(10);
};

// What a loader needs of it.
class LocalObjects {
 public:
  virtual ~LocalObjects() = default;

  // The object, if its ETag (without quotes) is this one; an empty one: whichever is there, and
  // then nothing is kept. Errors: not_implemented (read it over HTTP); precondition_failed (another
  // version is there), not_found, denied, as a GET would say; unavailable and other transient ones:
  // HTTP may work.
  virtual rt::Task<LocalObjectPtr> open(s3client::ObjectName name, std::string etag) = 0;
  // False once it is known that nothing can be had from this node.
  virtual bool is_within_reach() const = 0;
  // Whether so many objects, of so many bytes together, can all stay open.
  virtual bool can_keep(std::uint64_t objects, std::uint64_t size_bytes) const = 0;
};

class LocalShards final : public LocalObjects {
 public:
  // Requires: the watchdog runs.
  LocalShards(rt::Shard& shard, io::Watchdog& watchdog, s3client::S3Client& client,
              LocalOptions options = {});

  rt::Task<LocalObjectPtr> open(s3client::ObjectName name, std::string etag) override;
  bool is_within_reach() const override { return is_within_reach_; }
  bool can_keep(std::uint64_t objects, std::uint64_t size_bytes) const override;
  // Kept open, without those that were dropped and are still read.
  std::size_t descriptors() const { return descriptors_; }

 private:
  struct Kept {
    std::string name;
    LocalObjectPtr object;
  };
  struct Admission;

  rt::Task<Admission> ask(const s3client::ObjectName& name, const std::string& etag);
  rt::Task<LocalObjectPtr> fetch(const Admission& admission);
  void keep(const std::string& name, const LocalObjectPtr& object);
  std::unexpected<Error> out_of_reach(const Error& error);

  rt::Shard& shard_;
  io::Watchdog& watchdog_;
  s3client::S3Client& client_;
  const LocalOptions options_;
  bool is_within_reach_ = true;
  std::size_t descriptors_ = 0;
  std::list<Kept> kept_;  // the most recently used first
  std::map<std::string, std::list<Kept>::iterator, std::less<>> by_name_;
};

}  // namespace leat::local
