// SPDX-License-Identifier: Apache-2.0
#include "checks/gpu_model.h"

#include <map>
#include <memory>

#include "api/v1alpha1/names.h"
#include "base/join.h"
#include "planning/nodes/membership.h"
#include "planning/nodes/node_gpus.h"
#include "planning/nodes/node_marks.h"

namespace gpupool::checks {
namespace {

// "2 x NVIDIA-L4 (23034 MiB)", one entry for each kind.
std::string kinds_of(const std::vector<inventory::Gpu>& gpus) {
  std::map<std::string, std::size_t> kinds;
  for (const auto& gpu : gpus) ++kinds[gpu.model + " (" + std::to_string(gpu.memory_mib) + " MiB)"];
  std::vector<std::string> parts;
  parts.reserve(kinds.size());
  for (const auto& [kind, count] : kinds) parts.push_back(std::to_string(count) + " x " + kind);
  return base::join(parts, ", ");
}

// The node as the pool will see it, with the labels that the operator gives it after the plugin's report.
planning::PoolNode seen_by_pool(const std::vector<inventory::Gpu>& gpus, const api::PoolGpus& wanted) {
  api::GpuNode report;
  for (const auto& gpu : gpus) {
    auto& reported = report.status.gpus.emplace_back();
    reported.model = gpu.model;
    reported.memory_mib = gpu.memory_mib;
  }
  api::Node node;
  node.status.allocatable[wanted.resource_name] = std::to_string(gpus.size());
  const auto marks = planning::wanted_marks(node, nullptr, &report, false);
  if (marks.model_label) node.metadata.labels[api::kGpuModelLabel] = *marks.model_label;
  if (marks.memory_label) node.metadata.labels[api::kGpuMemoryLabel] = *marks.memory_label;
  return planning::describe_node(node, wanted.resource_name);
}

void judge_gpus(const GpuModelFacts& facts, Judgement& judgement) {
  const auto& wanted = facts.pool->spec.gpus;
  const auto& gpus = facts.inventory->gpus;
  std::map<std::string, std::vector<std::string>> misfits;  // what is wrong, and with which
  for (const auto& gpu : gpus) {
    const auto mismatch = planning::gpu_mismatch(seen_by_pool({gpu}, wanted), wanted);
    if (mismatch.empty()) continue;
    misfits[gpu.model + " (" + std::to_string(gpu.memory_mib) + " MiB): " + mismatch].push_back(
        std::to_string(gpu.index));
  }
  for (const auto& [mismatch, indices] : misfits) {
    judgement.fail(
        "GPU " + base::join(indices, ",") + ", " + mismatch,
        "join a pool that takes these GPUs (kubectl get gpupools -o yaml), or ask the pool's owner to change "
        "spec.gpus");
  }
  if (!misfits.empty()) return;
  if (const auto mismatch = planning::gpu_mismatch(seen_by_pool(gpus, wanted), wanted); !mismatch.empty()) {
    judgement.fail("of GPUs together: " + mismatch + ", because they differ (" + kinds_of(gpus) + ")",
                   "a pool that names models takes nodes with GPUs of one model: take the others out");
  }
}

// Empty where no label is enough or is needed.
std::string label_command(const GpuModelFacts& facts) {
  const auto& selector = facts.pool->spec.node_selector;
  if (selector.match_labels.empty() || !selector.match_expressions.empty()) return {};
  std::string command = "kubectl label node " + facts.node_name;
  for (const auto& [key, value] : selector.match_labels)
    command.append(" ").append(key).append("=").append(value);
  return command;
}

void judge_name(const GpuModelFacts& facts, Judgement& judgement) {
  if (facts.node_name.empty()) return;
  auto pool = std::make_shared<api::GpuPool>(*facts.pool);
  pool->spec.node_selector = {};  // the label is the owner's last step, not a condition
  api::Node node;
  node.metadata.name = facts.node_name;
  for (const auto& exclusion : planning::Membership({pool}).of(node).excluded) {
    judgement.fail(
        "node " + facts.node_name + ": " + exclusion.why + " (" + pool->spec.node_name_pattern + ")",
        "name the machine as the pool wants it (hostnamectl set-hostname NAME), before it joins");
  }
}

}  // namespace

Finding judge_gpu_model(const GpuModelFacts& facts) {
  Judgement judgement("gpu-model");
  if (!facts.pool_error.empty()) {
    judgement.fail("the pool cannot be read: " + facts.pool_error,
                   "see which pools there are: kubectl get gpupools; or compare without one: --models A,B "
                   "--min-memory 40Gi");
    return judgement.finding();
  }
  if (!facts.inventory || facts.inventory->gpus.empty()) {
    judgement.fail("no GPU to look at", "see the check driver");
    return judgement.finding();
  }
  judgement.note(kinds_of(facts.inventory->gpus));
  if (!facts.pool) {
    judgement.note("compared with no pool (--pool NAME)");
    return judgement.finding();
  }
  judge_gpus(facts, judgement);
  judge_name(facts, judgement);
  if (!facts.pool->metadata.name.empty()) judgement.note("as pool " + facts.pool->metadata.name + " wants");
  if (const auto command = label_command(facts); !command.empty()) judgement.note("joins by: " + command);
  return judgement.finding();
}

}  // namespace gpupool::checks
