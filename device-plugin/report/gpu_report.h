// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_node.h"
#include "report/node_report.h"

namespace gpupool::report {

// Who holds which devices of this node.
struct Use {
  std::set<std::string> ids;  // device IDs in pods
  std::map<std::string, std::map<std::pair<std::string, std::string>, std::int64_t>> pods;  // by GPU UUID
};

// Counts the holdings of any resource whose devices are GPUs of these facts, also of slices that are no
// longer offered. Pure.
Use count_use(const Facts& facts);

// One GPU of the report, without what only the inventory knows. Pure.
api::GpuNodeGpu describe_offer(const std::string& uuid, const slices::Table& table, const Use& use);

}  // namespace gpupool::report
