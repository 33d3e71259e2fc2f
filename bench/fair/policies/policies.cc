// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/policies.h"

#include "bench/fair/policies/fifo_easy.h"
#include "bench/fair/policies/kueue_like.h"
#include "bench/fair/policies/pool_policy.h"
#include "bench/fair/policies/reference.h"
#include "bench/fair/policies/slurm_like.h"

namespace gpupool::bench::fair {
namespace {

using Make = std::unique_ptr<Policy> (*)(const Workload&, const Settings&);

template <Reference::Yield yield>
std::unique_ptr<Policy> make_reference(const Workload& workload, const Settings& settings) {
  return std::make_unique<Reference>(workload, settings, yield);
}

struct Named {
  const char* name;
  Make make;
};

const Named kPolicies[] = {
    {"fifo",
     [](const Workload& workload, const Settings&) -> std::unique_ptr<Policy> {
       return std::make_unique<PoolPolicy>(workload, make_pool_object());
     }},
    {"fifo+easy",
     [](const Workload&, const Settings&) -> std::unique_ptr<Policy> {
       return std::make_unique<FifoEasy>();
     }},
    {"kueue-like",
     [](const Workload& workload, const Settings&) -> std::unique_ptr<Policy> {
       return std::make_unique<KueueLike>(workload);
     }},
    {"slurm-like",
     [](const Workload& workload, const Settings& settings) -> std::unique_ptr<Policy> {
       return std::make_unique<SlurmLike>(workload, settings);
     }},
    {"gpupool",
     [](const Workload& workload, const Settings& settings) -> std::unique_ptr<Policy> {
       return std::make_unique<PoolPolicy>(workload, make_queue_pool_object(workload, settings));
     }},
    {"gpupool-share",
     [](const Workload& workload, const Settings& settings) -> std::unique_ptr<Policy> {
       return std::make_unique<PoolPolicy>(workload, make_queue_pool_object(workload, settings, true));
     }},
    {"reference-order", make_reference<Reference::Yield::kNobody>},
    {"reference", make_reference<Reference::Yield::kToGuarantee>},
    {"reference-share", make_reference<Reference::Yield::kToShareToo>},
};

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const auto& policy : kPolicies) names.emplace_back(policy.name);
  return names;
}

std::unique_ptr<Policy> make_policy(const std::string& name, const Workload& workload,
                                    const Settings& settings) {
  for (const auto& policy : kPolicies) {
    if (name == policy.name) return policy.make(workload, settings);
  }
  return nullptr;
}

}  // namespace gpupool::bench::fair
