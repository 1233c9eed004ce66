// Door: the way of one shard to one disk, for as long as the disk is part of the node.
//
// Whoever uses the disk is inside: a lookup, an object that is being read, one that is on its way
// in. A disk that is taken out closes its doors: nobody new gets in, and close() returns when the
// last one has left. So nobody ever holds a disk that is gone.
//
// Shard: one. Lifetime: the volume outlives close().
#pragma once

#include <memory>

#include "io/clock.h"
#include "placement/placement.h"
#include "rt/gate.h"
#include "volume/reader.h"

namespace leat::store {

// One disk and the shard that all its changes go through.
struct Disk {
  rt::Shard* home = nullptr;
  volume::Volume* volume = nullptr;
  std::uint32_t weight = 1;
};

// The disk as placement sees it.
placement::Candidate candidate_of(const Disk& disk);

class Door {
 public:
  Door(const Disk& disk, const volume::ShardKit& kit) : disk_(disk), reader_(*disk.volume, kit) {}

  // Errors: unavailable, when the disk is being taken out.
  Result<rt::Gate::Pass> enter();
  // Errors: unavailable, when those inside are to break off.
  Status check_patience() const;

  // A version could not be read: its disk is told, without waiting for it. Errors of other kinds
  // than damage and of the disk say nothing about either.
  void note_unread(const record::ObjectKey& object, record::VersionId version, const Error& error);

  // Returns when everybody has left. Who is still inside at `end` is asked to break off.
  rt::Task<void> close(io::Clock& clock, Instant end);

  const record::DiskId& id() const { return id_; }
  rt::Shard& home() const { return *disk_.home; }
  // Requires: the caller is inside.
  volume::Volume& volume() const { return *disk_.volume; }
  volume::VolumeReader& reader() { return reader_; }

 private:
  const Disk disk_;
  const record::DiskId id_ = disk_.volume->identity().disk;
  volume::VolumeReader reader_;
  bool is_impatient_ = false;
  rt::Gate gate_;
};
using DoorPtr = std::shared_ptr<Door>;

// The verified bytes of a range of a large object, in order.
class ObjectStream {
 public:
  // What is read, for those who have to say that it could not be.
  struct Name {
    record::ObjectKey object{};
    record::VersionId version{};
  };
  ObjectStream(DoorPtr door, rt::Gate::Pass inside, Name name,
               std::unique_ptr<volume::FilesSource> source)
      : door_(std::move(door)),
        inside_(std::move(inside)),
        name_(std::move(name)),
        source_(std::move(source)) {}

  // Reads the first bytes, for next() to give: what cannot be read is known before anything of the
  // object was handed on. Errors: corrupt, io.
  rt::Task<void> begin();

  // The next bytes, valid until the next call; empty at the end.
  // Errors: corrupt, io; unavailable, when the disk is being taken out and cannot wait.
  rt::Task<Bytes> next();

  // As FilesSource says it.
  std::optional<volume::FilesSource::InFile> in_file() const { return source_->in_file(); }

 private:
  rt::Task<Bytes> read();

  DoorPtr door_;
  rt::Gate::Pass inside_;  // of the door
  const Name name_;
  std::unique_ptr<volume::FilesSource> source_;
  std::optional<Bytes> first_;
};

}  // namespace leat::store
