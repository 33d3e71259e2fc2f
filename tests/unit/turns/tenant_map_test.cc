// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/tenant_map.h"

#include <gtest/gtest.h>

#include "planning/tenants/bound_class.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

api::PoolQueueSpec two_tenants() {
  api::PoolQueueSpec spec;
  spec.tenants = {{"nlp", {"nlp", "nlp-*"}, 2, 16, 64, 100},
                  {"courses", {"course-*", "nlp-exam"}, 1, 0, {}, {}}};
  return spec;
}

TEST(TenantMap, TheFirstThatNamesTheNamespaceCounts) {
  const TenantMap map(two_tenants());
  EXPECT_EQ(map.of("nlp").name, "nlp");
  EXPECT_EQ(map.of("nlp-exam").name, "nlp") << "also if a later one names it exactly";
  EXPECT_EQ(map.of("course-7").name, "courses");
  EXPECT_EQ(map.of("nlp").guaranteed, 16 * kMilli);
  EXPECT_EQ(map.of("nlp").limit, 64 * kMilli);
  EXPECT_EQ(map.of("course-7").limit, std::nullopt);
}

TEST(TenantMap, OtherNamespaces) {
  auto spec = two_tenants();
  EXPECT_EQ(TenantMap(spec).of("vision").name, "vision");
  EXPECT_EQ(TenantMap(spec).of("courses").name, "namespace/courses") << "not the tenant of that name";
  EXPECT_FALSE(TenantMap(spec).of("vision").refused);
  spec.others = api::QueueOthers{api::others_mode::kTogether, 3, 8};
  EXPECT_EQ(TenantMap(spec).of("vision").name, "others");
  EXPECT_EQ(TenantMap(spec).of("vision").weight, 3);
  EXPECT_EQ(TenantMap(spec).of("vision").limit, 8 * kMilli);
  spec.others = api::QueueOthers{api::others_mode::kRefused, 1, {}};
  EXPECT_TRUE(TenantMap(spec).of("vision").refused);
  EXPECT_FALSE(TenantMap(spec).of("nlp").refused);
}

TEST(TenantMap, NamedGivesTheSameTenant) {
  const TenantMap map(two_tenants());
  for (const auto* ns : {"nlp", "course-1", "vision", "courses", "others"})
    EXPECT_EQ(map.named(map.of(ns).name), map.of(ns)) << ns;
}

TEST(GpuAmount, RatesOfModels) {
  api::PoolQueueSpec spec;
  spec.rates = {{"H100", 400}};
  EXPECT_EQ(gpu_amount(spec, "H100", 8), 32 * kMilli);
  EXPECT_EQ(gpu_amount(spec, "A", 8), 8 * kMilli);
  EXPECT_EQ(slice_amount(spec, "A", 1, 3), 334) << "rounded up";
  EXPECT_EQ(slice_amount(spec, "H100", 5, 10), 2 * kMilli);
  EXPECT_EQ(amount_text(16 * kMilli), "16");
  EXPECT_EQ(amount_text(1500), "1500m");
}

TEST(BoundClass, IsRoundedUp) {
  auto job = test::make_job();
  EXPECT_EQ(bound_class(job), 0);
  const auto of = [&](std::int64_t deadline) {
    job.spec.active_deadline_seconds = deadline;
    return bound_class(job);
  };
  EXPECT_EQ(of(1), 60);
  EXPECT_EQ(of(60), 60);
  EXPECT_EQ(of(61), 120);
  EXPECT_EQ(of(14 * 86'400), 14 * 86'400);
  EXPECT_EQ(of(14 * 86'400 + 1), 28 * 86'400);
  job.status.progress.emplace().active_seconds = 14 * 86'400;
  EXPECT_EQ(of(14 * 86'400 + 50), 60) << "what earlier leases have used does not come again";
}

}  // namespace
}  // namespace gpupool::planning
