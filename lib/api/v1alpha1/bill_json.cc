// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/bill_json.h"

#include <nlohmann/json.hpp>

#include "base/rfc3339.h"

namespace gpupool::api {
namespace {

using nlohmann::json;

// An empty text in a list is refused by Kubernetes 1.20, so fields without a value are left out.
json json_of(const BillTerms& terms) {
  json fields = {{"pool", terms.pool}, {"currency", terms.currency}, {"perGpuHour", terms.per_gpu_hour}};
  if (!terms.owner.empty()) fields["owner"] = terms.owner;
  if (terms.fee != 0) fields["fee"] = terms.fee;
  if (terms.gpus != 0) fields["gpus"] = terms.gpus;
  if (terms.slices != 0) fields["slices"] = terms.slices;
  if (terms.split != 0) fields["split"] = terms.split;
  return fields;
}

}  // namespace

std::string bill_json(const JobBill& bill) {
  json fields = {{"currency", bill.currency},
                 {"cost", bill.cost},
                 {"gpuSeconds", bill.gpu_seconds},
                 {"segmentCount", bill.segment_count}};
  if (bill.carry != 0) fields["carry"] = bill.carry;
  for (const auto& part : bill.open) {
    auto one = json_of(part.terms);
    if (!part.nodes.empty()) one["nodes"] = part.nodes;
    if (part.from) one["from"] = base::to_rfc3339(*part.from);
    fields["open"].push_back(std::move(one));
  }
  for (const auto& segment : bill.segments) {
    auto one = json_of(segment.terms);
    one["number"] = segment.number;
    if (!segment.nodes.empty()) one["nodes"] = segment.nodes;
    one["nodeCount"] = segment.node_count;
    if (segment.from) one["from"] = base::to_rfc3339(*segment.from);
    if (segment.to) one["to"] = base::to_rfc3339(*segment.to);
    one["cost"] = segment.cost;
    if (segment.carry != 0) one["carry"] = segment.carry;
    fields["segments"].push_back(std::move(one));
  }
  return fields.dump();
}

}  // namespace gpupool::api
