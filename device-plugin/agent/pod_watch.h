// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "kubelet/allocation_gate.h"
#include "kubelet/pod_resources.h"

namespace gpupool::agent {

// Keeps from look to look which devices containers hold, as podresources tells. Used by the agent's thread;
// not thread-safe.
class PodWatch {
 public:
  PodWatch(kubelet::PodResources& pods, const kubelet::AllocationGate& gate, base::Clock& clock,
           const base::Log& log)
      : pods_(pods), gate_(gate), clock_(clock), log_(log) {}

  void look(const std::stop_token& stop);

  // The last answer, also when the kubelet does not answer at present.
  const std::vector<kubelet::Holding>& holdings() const { return holdings_; }
  const std::set<std::string>& in_use() const { return in_use_; }
  // False while the answer may miss something: the kubelet does not answer, or it has allocated so recently
  // that the pod may not be listed yet.
  bool complete() const { return complete_; }
  // The allocations that the answer takes into account, for AllocationGate::if_quiet().
  std::uint64_t allocations() const { return allocations_; }

 private:
  kubelet::PodResources& pods_;
  const kubelet::AllocationGate& gate_;
  base::Clock& clock_;
  base::Log log_;
  std::vector<kubelet::Holding> holdings_;
  std::set<std::string> in_use_;
  bool complete_ = false;
  std::uint64_t allocations_ = 0;
  base::SteadyTime last_allocation_{};
  std::string last_error_;
};

}  // namespace gpupool::agent
