// SPDX-License-Identifier: Apache-2.0
#include "planning/billing/bill_record.h"

#include <nlohmann/json.hpp>

#include "api/v1alpha1/bill_json.h"
#include "api/v1alpha1/gpu_bill_record.h"
#include "api/v1alpha1/names.h"
#include "planning/billing/job_bill.h"

namespace gpupool::planning {

std::string bill_record(const api::GpuJob& job) {
  auto bill = *job.status.bill();
  if (job.status.lease) {
    std::vector<std::string> nodes;
    for (const auto& node : job.status.lease->nodes) nodes.push_back(node.name);
    name_nodes(bill, nodes);
  }
  bill.open.clear();
  const nlohmann::json record = {
      {"apiVersion", api::kApiVersion},
      {"kind", api::GpuBillRecord::kType.kind},
      {"metadata", {{"name", job.metadata.uid + "." + std::to_string(bill.segment_count)}}},
      {"spec",
       {{"namespace", job.metadata.ns},
        {"job", job.metadata.name},
        {"jobUID", job.metadata.uid},
        {"bill", nlohmann::json::parse(api::bill_json(bill))}}}};
  return record.dump();
}

bool drops_segments(const api::JobBill* before, const api::JobBill* after) {
  if (before == nullptr || before->segments.empty()) return false;
  if (after == nullptr || after->segments.empty()) return true;
  return after->segments.front().number > before->segments.front().number;
}

}  // namespace gpupool::planning
