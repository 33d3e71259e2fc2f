// SPDX-License-Identifier: Apache-2.0
#include "agent/pod_watch.h"

#include <utility>

namespace gpupool::agent {

namespace {

// The time after which podresources is sure to list a pod whose devices were allocated; in practice
// milliseconds.
constexpr auto kListed = std::chrono::seconds(2);

}  // namespace

void PodWatch::look(const std::stop_token& stop) {
  const auto begun = gate_.begun();
  const auto now = clock_.now();
  if (begun != allocations_) last_allocation_ = now;
  const bool quiet = begun == 0 || now - last_allocation_ >= kListed;
  allocations_ = begun;
  auto listed = pods_.list(stop);
  complete_ = listed.has_value() && quiet;
  if (!listed) {
    if (last_error_ != listed.error().message && !stop.stop_requested()) {
      log_.warning("The kubelet does not tell which pods hold devices; nothing shrinks meanwhile",
                   {{"error", listed.error().message}});
    }
    last_error_ = listed.error().message;
    return;
  }
  last_error_.clear();
  holdings_ = std::move(*listed);
  in_use_.clear();
  for (const auto& holding : holdings_) in_use_.insert(holding.ids.begin(), holding.ids.end());
}

}  // namespace gpupool::agent
