// SPDX-License-Identifier: Apache-2.0
#include "checks/gpu_model.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

constexpr char kL4[] = "NVIDIA-L4";
constexpr char kA100[] = "NVIDIA-A100-SXM4-40GB";

inventory::Gpu gpu(std::int64_t index, const std::string& model, std::int64_t memory_mib) {
  inventory::Gpu gpu;
  gpu.index = index;
  gpu.model = model;
  gpu.memory_mib = memory_mib;
  return gpu;
}

GpuModelFacts model_facts(const std::vector<inventory::Gpu>& gpus) {
  GpuModelFacts facts;
  facts.inventory.emplace().gpus = gpus;
  facts.node_name = "gpu-1";
  return facts;
}

api::GpuPool pool_of(const std::vector<std::string>& models, const std::string& min_memory) {
  api::GpuPool pool;
  pool.metadata.name = "lab";
  pool.spec.gpus.models = models;
  pool.spec.gpus.min_memory = min_memory;
  return pool;
}

TEST(JudgeGpuModel, WithoutAPoolTellsWhatIsThere) {
  test::expect_judged(judge_gpu_model(model_facts({gpu(0, kL4, 23034), gpu(1, kL4, 23034)})),
                      {Verdict::kOk, "2 x NVIDIA-L4 (23034 MiB), compared with no pool"});
  test::expect_judged(judge_gpu_model(model_facts({})), {Verdict::kFail, "no GPU", "driver"});
  test::expect_judged(judge_gpu_model({}), {Verdict::kFail, "no GPU", "driver"});
}

TEST(JudgeGpuModel, FollowsThePoolsModelsAndMemory) {
  struct Case {
    std::vector<std::string> models;
    const char* min_memory;
    test::Expected expected;
  };
  const std::vector<Case> cases{
      {{}, "", {Verdict::kOk, "as pool lab wants"}},
      {{"X", kL4}, "20Gi", {Verdict::kOk, "as pool lab wants"}},
      {{kA100},
       "",
       {Verdict::kFail, "GPU 0,1, NVIDIA-L4 (23034 MiB): GPU model NVIDIA-L4 is not in spec.gpus.models",
        "kubectl get gpupools"}},
      {{}, "40Gi", {Verdict::kFail, "GPU memory is below 40Gi", "spec.gpus"}},
  };
  for (const auto& test_case : cases) {
    auto facts = model_facts({gpu(0, kL4, 23034), gpu(1, kL4, 23034)});
    facts.pool = pool_of(test_case.models, test_case.min_memory);
    test::expect_judged(judge_gpu_model(facts), test_case.expected);
  }
}

TEST(JudgeGpuModel, FindsTheOneThatDoesNotFit) {
  auto facts = model_facts({gpu(0, kA100, 40960), gpu(1, kL4, 23034)});
  facts.pool = pool_of({kA100}, "40Gi");
  const auto finding = judge_gpu_model(facts);
  EXPECT_EQ(finding.verdict, Verdict::kFail);
  EXPECT_EQ(finding.found, "GPU 1, NVIDIA-L4 (23034 MiB): GPU model NVIDIA-L4 is not in spec.gpus.models");
}

// The operator labels a node with a model only if all its GPUs have it.
TEST(JudgeGpuModel, RefusesTwoModelsInOneMachine) {
  auto facts = model_facts({gpu(0, kA100, 40960), gpu(1, kL4, 23034)});
  facts.pool = pool_of({kA100, kL4}, "");
  test::expect_judged(judge_gpu_model(facts),
                      {Verdict::kFail, "1 x NVIDIA-A100-SXM4-40GB (40960 MiB), 1 x NVIDIA-L4", "one model"});
  facts.pool = pool_of({}, "20Gi");
  test::expect_judged(judge_gpu_model(facts), {Verdict::kOk, "as pool lab wants"});
}

TEST(JudgeGpuModel, TellsTheLabelAndChecksTheName) {
  auto facts = model_facts({gpu(0, kL4, 23034)});
  facts.pool = pool_of({}, "");
  facts.pool->spec.node_selector.match_labels = {{"owner", "lab"}};
  test::expect_judged(judge_gpu_model(facts), {Verdict::kOk, "joins by: kubectl label node gpu-1 owner=lab"});
  facts.pool->spec.node_name_pattern = "^gpu-[0-9]$";
  test::expect_judged(judge_gpu_model(facts), {Verdict::kOk, "as pool lab wants"});
  facts.pool->spec.node_name_pattern = "^lab-";
  test::expect_judged(
      judge_gpu_model(facts),
      {Verdict::kFail, "node gpu-1: name does not match spec.nodeNamePattern (^lab-)", "hostnamectl"});
}

TEST(JudgeGpuModel, SaysWhyThePoolIsNotThere) {
  auto facts = model_facts({gpu(0, kL4, 23034)});
  facts.pool_error = "get GpuPool lab: not found";
  test::expect_judged(judge_gpu_model(facts), {Verdict::kFail, "get GpuPool lab: not found", "--models"});
}

}  // namespace
}  // namespace gpupool::checks
