// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_node.h"
#include "health/gpu_health.h"
#include "inventory/gpu.h"
#include "kubelet/pod_resources.h"
#include "slices/table.h"
#include "telemetry/telemetry.h"

namespace gpupool::report {

// Everything that the report of a node is made of.
struct Facts {
  inventory::Inventory inventory;  // empty without a driver
  std::string problem;             // what the owner should know first; empty: all is well
  slices::Table table;
  std::map<std::string, health::GpuHealth> health;
  std::vector<kubelet::Holding> holdings;
  telemetry::Telemetry telemetry;
  std::vector<api::GpuNodeExcess> excesses;
};

// The status of this node's GpuNode, without times and telemetry: whatever changes it is news. Pure.
api::GpuNodeStatus make_status(const Facts& facts, const std::string& plugin_version);

}  // namespace gpupool::report
