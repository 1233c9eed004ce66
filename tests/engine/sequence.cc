#include "engine/sequence.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/generator.h"

namespace leat::model {
namespace {

// How much of what a sequence does; drawn for each, so that some live long and others crash often.
struct Mix {
  std::uint64_t burst_percent;
  std::uint64_t reboot_percent;
  std::uint64_t fault_percent;
  std::uint64_t chore_percent;
  bool is_damaged_at_the_end;
};

Mix draw_mix(io::Rng& rng) {
  return {.burst_percent = rng.below(20),
          .reboot_percent = 1 + rng.below(6),
          .fault_percent = rng.chance(1, 2) ? 0 : rng.below(6),
          .chore_percent = 2 + rng.below(20),
          .is_damaged_at_the_end = rng.chance(1, 10)};
}

class Sequence {
 public:
  Sequence(std::uint64_t seed, log::Logger& logger)
      : rng_(seed),
        options_(Generator::options(rng_)),
        mix_(draw_mix(rng_)),
        store_(rng_.next(), logger, options_),
        generate_(store_, rng_) {}

  SequenceResult run(std::uint64_t operations) {
    store_.open();
    for (std::uint32_t id = 1; id <= 3 && !store_.has_failed(); ++id) {
      store_.start(generate_.put_bucket(record::BucketId(id)));
      store_.run_all();
    }
    while (done_ < operations && !store_.has_failed())
      step();
    finish();
    return {.failure = report(), .operations = done_, .reboots = reboots_};
  }

 private:
  void step() {
    const std::uint64_t drawn = rng_.below(100);
    if (drawn < mix_.reboot_percent) return reboot();
    if (drawn < mix_.reboot_percent + mix_.fault_percent) return fault();
    if (rng_.below(100) < mix_.burst_percent) return burst();
    if (rng_.below(100) < mix_.chore_percent) {
      store_.start(chore());
      store_.run_all();
      ++done_;
      return;
    }
    one();
  }

  Chore chore() { return static_cast<Chore>(rng_.below(5)); }

  void one() {
    ++done_;
    switch (rng_.below(20)) {
      case 0:
      case 1: store_.get(generate_.key(), rng_); return;
      case 2:
      case 3: store_.list(generate_.list_request()); return;
      case 4: store_.verify(); return;
      case 5: pass_time(); return;
      case 6:
        if (rng_.chance(1, 3)) {
          store_.start(generate_.bucket_operation());
          store_.run_all();
        }
        return;
      default: break;
    }
    if (auto operation = generate_.operation()) {
      store_.start(std::move(*operation));
      store_.run_all();
    }
  }

  void pass_time() {
    const std::uint64_t drawn = rng_.below(6);
    sim::SimWorld& world = store_.world().world();
    if (drawn == 0) {
      world.run_for(std::chrono::seconds(3));
      store_.note("3 s pass");
    } else if (drawn == 1) {
      const auto hours = static_cast<int>(rng_.below(5)) - 2;
      world.clock("node").jump_wall(std::chrono::hours(hours));
      store_.note(fmt::format("the calendar jumps {} h", hours));
    } else {
      const auto us = static_cast<std::int64_t>(rng_.below(40'000));
      world.run_for(std::chrono::microseconds(us));
      store_.note(fmt::format("{} us pass", us));
    }
  }

  // Several operations at once; sometimes the process ends in their middle.
  void burst() {
    store_.verify();
    const std::uint64_t count = 2 + rng_.below(8);
    store_.note(fmt::format("{} at once:", count));
    for (std::uint64_t i = 0; i < count; ++i) {
      if (rng_.chance(1, 6)) {
        start_chore();
      } else {
        start_one();
      }
      ++done_;
      if (rng_.chance(1, 4)) run_some();
    }
    if (rng_.chance(1, 3)) {
      run_some();
      return reboot();
    }
    store_.run_all();
    store_.verify();
  }

  void start_one() {
    auto operation = generate_.operation();
    if (!operation || store_.running_on(operation->object) >= 2) return;
    // What these bring back depends on the moment, which the model does not know here.
    if (operation->kind == Kind::restore) return;
    if (operation->kind == Kind::remove_version && store_.running_on(operation->object) > 0) return;
    store_.start(std::move(*operation));
  }

  void start_chore() {
    const Chore one = chore();
    // Purges must not meet operations on the same key: their order would be unknown.
    if (one == Chore::reclaim && !store_.is_idle()) return;
    store_.start(one);
  }

  void run_some() {
    if (rng_.chance(1, 2)) {
      std::uint64_t steps = rng_.below(60);
      store_.world().world().run_until([&steps] { return steps-- == 0; });
    } else {
      const auto us = static_cast<std::int64_t>(rng_.below(3000));
      store_.world().world().run_for(std::chrono::microseconds(us));
    }
  }

  void reboot() {
    ++reboots_;
    ++done_;
    const std::uint64_t drawn = rng_.below(8);
    const bool is_whole = store_.is_idle() && !is_faulty_;
    Ending ending = Ending::power_cut;
    if (drawn == 0) ending = Ending::kill;
    if (drawn == 1 && is_whole) ending = Ending::clean;
    if (drawn == 2 && is_whole) ending = Ending::rebuild;
    store_.reboot(ending, generate_.crash());
    is_faulty_ = false;
  }

  void fault() {
    ++done_;
    store_.expect_faults();
    is_faulty_ = true;
    sim::SimDisk& disk = store_.world().disk();
    if (rng_.chance(1, 2)) {
      const auto space = disk.space("d");
      const std::uint64_t room = rng_.chance(1, 2) ? rng_.below(300) : rng_.below(100'000);
      disk.set_capacity(space->total_bytes - space->available_bytes + room);
      store_.note(fmt::format("the disk has {} bytes left", room));
    } else {
      sim::Fault fault{.call = static_cast<sim::DiskCall>(rng_.below(sim::kDiskCallNames.size())),
                       .nth = 1 + rng_.below(10)};
      fault.and_after = rng_.chance(1, 3);
      fault.posix_errno = rng_.chance(1, 3) ? ENOSPC : EIO;
      if (rng_.chance(1, 2)) fault.path_part = rng_.chance(1, 2) ? "segments" : "index";
      store_.note(fmt::format("fault: {} number {}{} errno {} in '{}'", sim::name_of(fault.call),
                              fault.nth, fault.and_after ? " and after" : "", fault.posix_errno,
                              fault.path_part));
      disk.faults().add(fault);
    }
    const std::uint64_t count = 1 + rng_.below(6);
    for (std::uint64_t i = 0; i < count && !store_.has_failed(); ++i)
      rng_.chance(1, 4) ? burst_of_faults() : one();
    if (store_.has_failed()) return;
    disk_is_whole();
  }

  void burst_of_faults() {
    store_.start(chore());
    start_one();
    store_.run_all();
    ++done_;
  }

  void disk_is_whole() {
    sim::SimDisk& disk = store_.world().disk();
    disk.faults().clear();
    disk.set_capacity(sim::SimDisk::kDefaultCapacityBytes);
    store_.note("the disk is whole again");
    store_.expect_no_faults();
    if (store_.world().volume().failure()) return reboot();
  }

  void finish() {
    if (store_.has_failed()) return;
    store_.run_all();
    reboot();
    if (!store_.has_failed() && mix_.is_damaged_at_the_end) damage();
  }

  // Bits of what is on the disk turn over. From then on every answer is right or `corrupt`: from
  // the process that runs, from the next one, and from an index made anew.
  void damage() {
    store_.start(rng_.chance(1, 2) ? Chore::checkpoint : Chore::sync);
    store_.run_all();
    store_.world().world().run_until_idle();
    if (store_.has_failed()) return;
    std::vector<std::string> files = files_below("d");
    std::uint64_t flips = rng_.chance(1, 2) ? 1 : 1 + rng_.below(20);
    // One file: what stands in several places is not all lost at once.
    const std::string file = files[rng_.below(files.size())];
    // A last segment of which nothing is whole looks like one that was torn
    // (docs/formats/segment.md).
    const auto is_segment = [](const std::string& name) { return name.ends_with(".seg"); };
    const auto last = std::ranges::max(files, {}, [&is_segment](const std::string& name) {
      return is_segment(name) ? name : std::string();
    });
    if (file == last) flips = 1;
    sim::SimDisk& disk = store_.world().disk();
    const std::uint64_t size = disk.info(file)->size_bytes;
    for (std::uint64_t i = 0; i < flips && size > 0; ++i) {
      const std::uint64_t offset = rng_.below(size);
      const auto bit = static_cast<unsigned>(rng_.below(8));
      store_.note(fmt::format("flip bit {} of byte {} of {}", bit, offset, file));
      if (!disk.flip_bit(file, offset, bit)) store_.fail_with("a bit cannot be flipped");
    }
    store_.verify_damaged();
    if (rng_.chance(1, 2)) {
      store_.note("compact");
      // It may succeed or find the damage; what is served afterwards is what counts.
      static_cast<void>(store_.world().run(store_.world().volume().compact()));
      store_.verify_damaged();
    }
    store_.reopen_damaged(rng_.chance(1, 3) ? Ending::rebuild : Ending::kill);
  }

  std::vector<std::string> files_below(const std::string& folder) {
    std::vector<std::string> files;
    const auto names = store_.world().disk().list(folder);
    for (const std::string& name : names.value_or(std::vector<std::string>{})) {
      const std::string path = folder + '/' + name;
      const auto info = store_.world().disk().info(path);
      if (info && !info->is_directory) {
        files.push_back(path);
      } else if (info) {
        for (std::string& below : files_below(path))
          files.push_back(std::move(below));
      }
    }
    return files;
  }

  std::string report() {
    if (!store_.has_failed()) return {};
    std::string text = fmt::format("{}\n  options: {}\n  last operations:\n", store_.failure(),
                                   Generator::describe_options(options_));
    const auto& notes = store_.notes();
    constexpr std::size_t kShown = 60;
    for (std::size_t i = notes.size() > kShown ? notes.size() - kShown : 0; i < notes.size(); ++i)
      text += "  " + notes[i] + "\n";
    return text;
  }

  io::SeededRng rng_;
  const volume::VolumeOptions options_;
  const Mix mix_;
  ModelledStore store_;
  Generator generate_;
  std::uint64_t done_ = 0;
  std::uint64_t reboots_ = 0;
  bool is_faulty_ = false;
};

}  // namespace

SequenceResult run_sequence(std::uint64_t seed, std::uint64_t operations, log::Logger& logger) {
  return Sequence(seed, logger).run(operations);
}

}  // namespace leat::model
