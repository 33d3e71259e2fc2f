// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "runtime/watch/reflector.h"
#include "serve/intake.h"

namespace gpupool::ledger {

// Enters what the statuses of GpuJobs say into the books: all of a list at its end, each event at once. Holds
// no resourceVersion beyond its life: after a start the list brings everything again, and the books know what
// they have. Thread-safe.
class JobFeed final : public runtime::ReflectorSink {
 public:
  // REQUIRES: intake outlives this.
  explicit JobFeed(Intake& intake) : intake_(intake) {}

  base::Result<void> item(std::string_view text) override;
  void commit() override;
  void abandon() override;
  base::Result<std::string> event(std::string_view type, std::string_view line) override;
  void reached(const std::string& version) override;

  // Everything up to this resourceVersion was passed to the intake; empty: there was no list yet.
  std::string version();
  // The namespaces in which jobs with segments have changed since the last call. version() contains these
  // changes.
  std::set<std::string> take_changed();

 private:
  Intake& intake_;
  base::Mutex mutex_;
  std::vector<Fact> listed_ GPUPOOL_GUARDED_BY(mutex_);
  std::string version_ GPUPOOL_GUARDED_BY(mutex_);
  std::set<std::string> arrived_ GPUPOOL_GUARDED_BY(mutex_);  // changes that version_ does not contain yet
  std::set<std::string> changed_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::ledger
