// SPDX-License-Identifier: Apache-2.0
#include "serve/intake.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpupool::ledger {

Intake::Intake(Books& books, base::Metrics& metrics, const base::Log& log)
    : books_(books),
      log_(log),
      entries_(metrics.counter("gpupool_ledger_entries_total", "Entries made since the start.")),
      failures_(metrics.counter("gpupool_ledger_failures_total", "Times that entries could not be made.")) {}

void Intake::enter(std::vector<Fact> facts) {
  const base::MutexLock lock(mutex_);
  std::ranges::move(std::move(facts), std::back_inserter(pending_));
  enter_pending();
}

std::string Intake::retry() {
  const base::MutexLock lock(mutex_);
  return enter_pending();
}

bool Intake::stored() {
  const base::MutexLock lock(mutex_);
  return pending_.empty();
}

std::string Intake::enter_pending() {
  if (pending_.empty()) return {};
  const auto made = books_.enter(pending_);
  if (!made) {
    failures_.increment();
    if (!failing_) log_.error("cannot enter into the books; trying again", {{"error", made.error().message}});
    failing_ = true;
    return made.error().message;
  }
  if (failing_) log_.info("entered into the books what was left");
  failing_ = false;
  entries_.increment(static_cast<double>(*made));
  pending_.clear();
  return {};
}

}  // namespace gpupool::ledger
