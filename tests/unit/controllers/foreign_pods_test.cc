#include "controllers/sweeper/foreign_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"
#include "tests/unit/kube/fake_transport.h"

namespace gpupool::controllers {
namespace {

// Each leased node is looked at once a minute: a read that goes past the server's cache would cost it every
// pod of the cluster, each time.
TEST(ForeignPods, AreReadFromTheServersCache) {
  test::FakeTransport transport;
  test::ManualClock clock;
  base::Metrics metrics;
  kube::Client client(transport, nullptr, clock, metrics, {});
  runtime::EventRecorder events(client, "test", "test", clock, metrics, base::Log::none());
  ForeignPods foreign(client, events, metrics);
  transport.answer(200, R"({"metadata":{"resourceVersion":"7"},"items":[]})");
  api::Node node;
  node.metadata.name = "a";
  ASSERT_TRUE(foreign.look(node, {}, {}));
  ASSERT_EQ(transport.sent().size(), 1U);
  EXPECT_THAT(transport.sent()[0].target, testing::HasSubstr("fieldSelector=spec.nodeName%3Da"));
  EXPECT_THAT(transport.sent()[0].target, testing::HasSubstr("resourceVersion=0"));
}

}  // namespace
}  // namespace gpupool::controllers
