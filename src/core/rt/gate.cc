#include "rt/gate.h"

namespace leat::rt {

Task<void> Gate::close() {
  begin_close();
  if (inside_ == 0) co_return Status{};
  auto left = suspend<void>([this](Resume<void> resume) { waiting_.push_back(std::move(resume)); });
  co_return co_await std::move(left);
}

void Gate::leave() {
  LEAT_CHECK(inside_ > 0);
  if (--inside_ > 0 || !closing_) return;
  for (Resume<void>& resume : std::exchange(waiting_, {}))
    resume(Status{});
}

}  // namespace leat::rt
