// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "books/machine_times.h"
#include "runtime/watch/reflector.h"

namespace gpupool::ledger {

// Takes how busy GPUs were from what device plugins report in GpuNodes. Keeps the newest report of each node
// until take(): their counters never go back, so those in between are not needed. Thread-safe.
class MachineFeed final : public runtime::ReflectorSink {
 public:
  base::Result<void> item(std::string_view text) override;
  void commit() override {}
  void abandon() override {}
  base::Result<std::string> event(std::string_view type, std::string_view line) override;

  // What was reported since the last call.
  std::vector<MachineTimes::Reading> take();
  // Those of them that could not be stored, unless there are newer ones.
  void give_back(const std::vector<MachineTimes::Reading>& readings);

 private:
  base::Mutex mutex_;
  std::map<std::string, std::vector<GpuCounters>> newest_ GPUPOOL_GUARDED_BY(mutex_);  // by node
};

}  // namespace gpupool::ledger
