// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "base/process_stats.h"

namespace gpupool::base {
namespace {

using testing::HasSubstr;

TEST(Metrics, ExposesWhatWasCounted) {
  Metrics metrics;
  metrics.counter("gpupool_test_total", "Things.", {{"result", "ok"}}).increment();
  metrics.counter("gpupool_test_total", "Things.", {{"result", "ok"}}).increment(2);
  metrics.counter("gpupool_test_total", "Things.", {{"result", "error"}}).increment();
  metrics.gauge("gpupool_depth", "Depth.").set(4.5);
  auto& latency = metrics.histogram("gpupool_latency_seconds", "Latency.", {0.1, 1}, {{"verb", "get"}});
  latency.observe(0.05);
  latency.observe(0.5);

  const std::string text = metrics.expose();
  EXPECT_THAT(text, HasSubstr("# HELP gpupool_test_total Things.\n# TYPE gpupool_test_total counter\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_test_total{result=\"ok\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_test_total{result=\"error\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_depth 4.5\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_latency_seconds_count{verb=\"get\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_latency_seconds_bucket{verb=\"get\",le=\"0.1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_latency_seconds_bucket{verb=\"get\",le=\"+Inf\"} 2\n"));
}

TEST(Metrics, OneNameAndLabelsIsOneHandle) {
  Metrics metrics;
  EXPECT_EQ(&metrics.gauge("a", "A."), &metrics.gauge("a", "A."));
  EXPECT_NE(&metrics.gauge("a", "A.", {{"x", "1"}}), &metrics.gauge("a", "A.", {{"x", "2"}}));
  EXPECT_EQ(&metrics.histogram("h", "H.", {1, 2}), &metrics.histogram("h", "H.", {1, 2}));
}

TEST(Metrics, ThreadsMayAskAndCount) {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 100; ++n) metrics.counter("c_total", "C.").increment();
      });
    }
    EXPECT_THAT(metrics.expose(), HasSubstr("process_cpu_seconds_total"));
  }
  EXPECT_THAT(metrics.expose(), HasSubstr("c_total 400\n"));
}

TEST(ProcessStats, TellsPlausibleFigures) {
  const ProcessStats before = read_process_stats();
  EXPECT_GT(before.resident_bytes, 100e3);
  EXPECT_GT(before.virtual_bytes, before.resident_bytes);
  EXPECT_GE(before.open_fds, 3);
  EXPECT_GE(before.max_fds, before.open_fds);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_GT(before.start_time_seconds, now - 3600);
  EXPECT_LT(before.start_time_seconds, now + 60);

  const int fd = ::dup(0);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(read_process_stats().open_fds, before.open_fds + 1);
  ::close(fd);
}

}  // namespace
}  // namespace gpupool::base
