// ProgressDisplay: the line that is drawn over and over on a terminal, or printed now and then
// elsewhere.
//
//   auto display = std::make_shared<ProgressDisplay>(session, counters);
//   shard.spawn(ProgressDisplay::run(display), [](const Status&) {});
//   …
//   display->end();
//
// It goes on by itself until it is told to end. Shard: the first. Lifetime: the counters outlive
// end().
#pragma once

#include <memory>

#include "leat/client_session.h"
#include "leat/progress.h"

namespace leat::programs {

class ProgressDisplay {
 public:
  ProgressDisplay(Session& session, transfer::Counters& counters);

  static rt::Task<void> run(std::shared_ptr<ProgressDisplay> self);

  // Something else is to be printed.
  void clear();
  void end();

 private:
  void draw();

  io::Clock& clock_;
  transfer::Counters& counters_;
  bool is_terminal_;
  Duration period_;
  Rates rates_;
  bool is_drawn_ = false;
  bool is_over_ = false;
};

}  // namespace leat::programs
