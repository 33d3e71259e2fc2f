// SPDX-License-Identifier: Apache-2.0
#include "kube/delete_body.h"

#include <gtest/gtest.h>

namespace gpupool::kube {
namespace {

TEST(DeleteBody, SaysOnlyWhatIsAskedFor) {
  EXPECT_EQ(delete_body({}),
            R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"})");
}

TEST(DeleteBody, CarriesEverything) {
  DeleteOptions options;
  options.uid = "u-1";
  options.resource_version = "7";
  options.propagation = Propagation::kForeground;
  options.grace_period_seconds = 1;
  EXPECT_EQ(
      delete_body(options),
      R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground","gracePeriodSeconds":1,)"
      R"("preconditions":{"uid":"u-1","resourceVersion":"7"}})");
  options = {};
  options.resource_version = "7";
  options.propagation = Propagation::kOrphan;
  EXPECT_EQ(
      delete_body(options),
      R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan","preconditions":{"resourceVersion":"7"}})");
}

}  // namespace
}  // namespace gpupool::kube
