#include "sim/fault_plan.h"

#include "base/check.h"

namespace leat::sim {
namespace {

bool strikes(const Fault& fault, std::uint64_t seen, io::Rng& rng) {
  if (fault.nth == 0) return rng.chance(fault.percent, 100);
  return seen == fault.nth || (fault.and_after && seen > fault.nth);
}

}  // namespace

void FaultPlan::add(Fault fault) {
  LEAT_CHECK(fault.nth > 0 || fault.percent > 0);
  LEAT_CHECK((fault.effect != FaultEffect::shorten && fault.effect != FaultEffect::lose) ||
             fault.call == DiskCall::write);
  armed_.push_back(Armed{std::move(fault)});
}

Verdict FaultPlan::judge(DiskCall call, std::string_view path, io::Rng& rng) {
  Verdict verdict;
  for (Armed& armed : armed_) {
    const Fault& fault = armed.fault;
    if (fault.call != call || path.find(fault.path_part) == std::string_view::npos) continue;
    ++armed.seen;
    if (!strikes(fault, armed.seen, rng)) continue;
    switch (fault.effect) {
      case FaultEffect::fail: verdict.posix_errno = fault.posix_errno; break;
      case FaultEffect::shorten: verdict.shorten = true; break;
      case FaultEffect::lose: verdict.lose = true; break;
      case FaultEffect::delay: verdict.delay += fault.delay; break;
    }
  }
  return verdict;
}

}  // namespace leat::sim
