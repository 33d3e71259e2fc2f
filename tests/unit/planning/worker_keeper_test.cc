// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/log_push_format.h"
#include "planning/workers/manifests.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

const KeeperAccess kKeeper{"10.0.0.7:7070", "k2", std::string(32, 'k')};

Json container_of(std::int64_t gpus, const std::optional<KeeperAccess>& keeper) {
  auto job = test::make_job("job", gpus);
  job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"}, 3);
  ManifestOptions options{{"launcher:1", "carry:1"}, test::kGpus};
  options.keeper = keeper;
  return Json::parse(make_manifests(job, options).workload)["spec"]["template"]["spec"]["containers"][0];
}

TEST(WorkerKeeper, AWorkerIsToldWhereAndAsWhom) {
  for (const std::int64_t gpus : {1, 4}) {
    const Json container = container_of(gpus, kKeeper);
    const auto command = container["command"].get<std::vector<std::string>>();
    EXPECT_THAT(command, Contains("--keeper=10.0.0.7:7070"));
    EXPECT_THAT(command, Contains("--keeper-key=k2"));
    const auto job = test::make_job("job", gpus);
    EXPECT_THAT(command,
                Contains("--keeper-id=" + job.metadata.ns + "/" + job.metadata.uid + "/3/" + job.spec.pool));
    const auto token =
        api::log_push::hex(api::log_push::attempt_token(kKeeper.key, job.metadata.uid, 3, job.metadata.ns));
    EXPECT_THAT(container["env"], Contains(Json{{"name", "GPUPOOL_KEEPER_TOKEN"}, {"value", token}}));
    // Arguments are seen by everybody on the node.
    EXPECT_THAT(Json(command).dump(), testing::Not(HasSubstr(token)));
    EXPECT_THAT(container.dump(), testing::Not(HasSubstr(kKeeper.key)));
  }
}

TEST(WorkerKeeper, WithoutAKeeperNothingSaysSo) {
  EXPECT_THAT(container_of(1, std::nullopt).dump(), testing::Not(HasSubstr("keeper")));
  EXPECT_THAT(container_of(1, std::nullopt).dump(), testing::Not(HasSubstr("KEEPER")));
}

}  // namespace
}  // namespace gpupool::planning
