// SPDX-License-Identifier: Apache-2.0
#include "stream/tab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/gpu_pool.h"
#include "tests/unit/web/played_api.h"

namespace gpupool::web {
namespace {

TEST(Tab, BeginsWithAPingAndEndsWithTheStop) {
  test::PlayedClient played([](const net::HttpRequest&) {
    return net::HttpResponse{.status = 403, .body = R"({"kind":"Status","reason":"Forbidden","code":403})"};
  });
  base::SystemClock clock;
  Tab tab({&played.client, [](kube::Client*) {}}, nullptr,
          {{.id = "p", .kind = Topic::Kind::kObjects, .type = &api::GpuPool::kType}}, clock);
  std::stop_source stop;
  EXPECT_EQ(tab.next(stop.get_token()), "{\"ping\":true}\n");
  EXPECT_THAT(*tab.next(stop.get_token()), testing::HasSubstr(R"("id":"p")"));
  stop.request_stop();
  EXPECT_FALSE(tab.next(stop.get_token()));
}

}  // namespace
}  // namespace gpupool::web
