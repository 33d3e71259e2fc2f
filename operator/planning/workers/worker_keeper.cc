// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_keeper.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "api/log_push_format.h"
#include "api/v1alpha1/lease_value.h"

namespace gpupool::planning {
namespace {

std::int64_t number_of(const api::GpuJob& job) {
  const auto value = api::parse_lease_value(job.status.lease->id);
  return value ? value->n : 0;
}

}  // namespace

void add_keeper_flags(nlohmann::json& command, const api::GpuJob& job, const KeeperAccess& keeper) {
  command.push_back("--keeper=" + keeper.address);
  command.push_back("--keeper-key=" + keeper.key_id);
  command.push_back("--keeper-id=" + job.metadata.ns + "/" + job.metadata.uid + "/" +
                    std::to_string(number_of(job)) + "/" + job.spec.pool);
}

void add_keeper_variable(nlohmann::json& variables, const api::GpuJob& job, const KeeperAccess& keeper) {
  namespace push = api::log_push;
  const auto token = push::attempt_token(keeper.key, job.metadata.uid, number_of(job), job.metadata.ns);
  variables.push_back({{"name", push::kTokenVariable}, {"value", push::hex(token)}});
}

}  // namespace gpupool::planning
