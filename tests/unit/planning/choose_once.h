// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "planning/queue/node_picker.h"

namespace gpupool::test {

// nodes: in order of name. Ignores whether they are leased.
inline std::optional<std::vector<const planning::PoolNode*>> choose_once(
    const std::vector<const planning::PoolNode*>& nodes, std::int64_t workers, std::int64_t gpus_per_worker,
    bool homogeneous) {
  api::PoolGpus wanted;
  wanted.homogeneous = homogeneous;
  std::vector<planning::Candidate> all;
  for (const auto* node : nodes) all.push_back({node});
  std::vector<const planning::Candidate*> candidates;
  for (const auto& candidate : all) candidates.push_back(&candidate);
  return planning::NodePicker(wanted, candidates, workers, gpus_per_worker, {},
                              planning::NodePicker::Of::kAll)
      .next();
}

}  // namespace gpupool::test
