// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_marks.h"

#include <algorithm>
#include <set>

#include "api/v1alpha1/names.h"
#include "planning/nodes/lease_marks.h"
#include "planning/nodes/pool_validation.h"

namespace gpupool::planning {
namespace {

constexpr std::size_t kMaxLabel = 63;

std::optional<std::string> label_of(const api::Node& node, const std::string& key) {
  const auto found = node.metadata.labels.find(key);
  return found == node.metadata.labels.end() ? std::nullopt : std::optional(found->second);
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A report may contain anything; the API server would refuse an invalid label value for ever.
std::string as_label(std::string text) {
  for (auto& c : text) {
    if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') c = '-';
  }
  if (text.size() > kMaxLabel) text.resize(kMaxLabel);
  while (!text.empty() && !is_alphanumeric(text.back())) text.pop_back();
  const auto begin = std::find_if(text.begin(), text.end(), is_alphanumeric);
  return {begin, text.end()};
}

void describe_gpus(const api::GpuNode& report, NodeMarks& marks) {
  std::set<std::string> models;
  std::set<std::int64_t> memory;
  for (const auto& gpu : report.status.gpus) {
    if (gpu.memory_mib <= 0) continue;  // the GPU has fallen off the bus and reports no memory
    models.insert(as_label(gpu.model));
    memory.insert(gpu.memory_mib);
  }
  if (memory.empty()) return;  // there is no driver now; the labels of the last report stay
  marks.model_label.reset();
  if (models.size() == 1 && !models.begin()->empty()) marks.model_label = *models.begin();
  marks.memory_label = std::to_string(*memory.begin()) + "Mi";
}

}  // namespace

std::string pool_taint(const api::Node& node) {
  for (const auto& taint : node.spec.taints) {
    if (taint.key == api::kPoolTaint && taint.effect == api::kNoSchedule) return taint.value;
  }
  return {};
}

NodeMarks marks_of(const api::Node& node) {
  NodeMarks marks;
  if (auto pool = pool_taint(node); !pool.empty()) marks.pool_taint = std::move(pool);
  marks.member_label = label_of(node, api::kMemberLabel);
  marks.model_label = label_of(node, api::kGpuModelLabel);
  marks.memory_label = label_of(node, api::kGpuMemoryLabel);
  return marks;
}

NodeMarks wanted_marks(const api::Node& node, const api::GpuPool* pool, const api::GpuNode* report,
                       bool in_use) {
  auto marks = marks_of(node);
  if (report != nullptr) describe_gpus(*report, marks);
  const bool shares = pool != nullptr && pool->spec.sharing && !validate_pool(*pool);
  const auto& name = pool != nullptr ? pool->metadata.name : std::string();
  const bool of_another = marks.pool_taint && *marks.pool_taint != name;
  if (in_use && (of_another || !shares)) return marks;
  if (!shares) {
    marks.pool_taint.reset();
    marks.member_label.reset();
  } else if (lease_taint(node).empty() || marks.pool_taint) {
    // A node in an exclusive lease joins when that lease ends, because its workers do not tolerate this
    // taint.
    marks.pool_taint = name;
    marks.member_label = node.metadata.uid;
  }
  return marks;
}

}  // namespace gpupool::planning
