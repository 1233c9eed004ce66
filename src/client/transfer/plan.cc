#include "transfer/plan.h"

namespace leat::transfer {

rt::Task<void> plan(EntrySource& source, EntrySource& target, const Rules& rules,
                    const Emit& emit) {
  LEAT_CO_TRY(auto here, co_await source.next());
  LEAT_CO_TRY(auto there, co_await target.next());
  while (here || there) {
    const bool takes_here = here && (!there || here->name <= there->name);
    const bool takes_there = there && (!here || there->name <= here->name);
    const Verdict verdict =
        judge(takes_here ? &*here : nullptr, takes_there ? &*there : nullptr, rules);
    Entry entry = takes_here ? std::move(*here) : std::move(*there);
    LEAT_CO_DO(co_await emit(verdict, std::move(entry)));
    if (takes_here) {
      LEAT_CO_TRY(here, co_await source.next());
    }
    if (takes_there) {
      LEAT_CO_TRY(there, co_await target.next());
    }
  }
  co_return Status{};
}

}  // namespace leat::transfer
