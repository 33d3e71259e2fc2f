// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/workload/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/fair/workload/declare.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::bench::fair {
namespace {

using testing::HasSubstr;

constexpr char kSpeeds[] = R"speeds({
  "v100": {"('LM (batch size 5)', 1)": {"null": 2.0}, "('LM (batch size 5)', 4)": {"null": 8.0, "x": [1, 1]}},
  "k80": {"('LM (batch size 5)', 1)": {"null": 0.0}}})speeds";

class FairTrace : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  base::Result<Workload> read(const std::string& name, const std::string& text) {
    options.files = {write(name, text)};
    return read_traces(options, 8);
  }
  std::string error(const std::string& name, const std::string& text) {
    const auto found = read(name, text);
    return found ? "" : found.error().message;
  }

  TraceOptions options{.files = {}, .throughputs = {}, .fewest_jobs = 1};

 private:
  test::TemporaryFolder folder_;
};

TEST_F(FairTrace, ReadsGavelsFormat) {
  options.throughputs = write("speeds.json", kSpeeds);
  const auto found = read("nlp.trace",
                          "LM (batch size 5)\tpython main.py\t--steps\t0\t100\t3.000000\t1\n"
                          "LM (batch size 5)\tpython main.py\t--steps\t0\t100\t7.5\t6\n");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->tenants.size(), 1U);
  EXPECT_EQ(found->tenants[0].name, "nlp");
  ASSERT_EQ(found->jobs.size(), 2U);
  EXPECT_EQ(found->jobs[0].arrival, 3);
  EXPECT_EQ(found->jobs[0].seconds, 50);
  EXPECT_EQ(found->jobs[1].gpus, 6);
  EXPECT_EQ(found->jobs[1].seconds, 13) << "as fast as on 4 GPUs, the most that were measured";
}

TEST_F(FairTrace, ReadsCsv) {
  options.longest = 1000;
  options.days = 1;
  const auto found = read("jobs.csv", "tenant,arrival,gpus,seconds\nb,10,2,100\na,0,1,5000\nb,86400,1,7\n");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->jobs.size(), 2U) << "the last one comes after the first day";
  EXPECT_EQ(found->tenants[found->jobs[0].tenant].name, "a");
  EXPECT_EQ(found->jobs[0].seconds, 1000);
  EXPECT_EQ(found->jobs[1].gpus, 2);
}

TEST_F(FairTrace, LeavesOutTenantsWithFewJobs) {
  options.fewest_jobs = 2;
  const auto found = read("jobs.csv", "a,1,1,1\nb,1,1,1\nb,2,1,1\n");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->tenants.size(), 1U);
  EXPECT_EQ(found->tenants[0].name, "b");
}

TEST_F(FairTrace, TellsWhatIsWrong) {
  EXPECT_THAT(error("a.txt", ""), HasSubstr("neither a .trace nor a .csv file"));
  EXPECT_THAT(error("a.trace", ""), HasSubstr("--throughputs is missing"));
  EXPECT_THAT(error("a.csv", "a,0,1,5\na,0,1\n"), HasSubstr("a.csv:2: 3 fields instead of 4"));
  EXPECT_THAT(error("a.csv", "a,0,0,5\n"), HasSubstr("a.csv:1: want tenant,arrival,gpus,seconds"));
  EXPECT_THAT(error("a.csv", "a,-1,1,5\n"), HasSubstr("a.csv:1"));
  EXPECT_THAT(error("a.csv", "a,nan,1,5\n"), HasSubstr("a.csv:1"));
  EXPECT_THAT(error("a.csv", "a,0,1,1e300\n"), HasSubstr("a.csv:1"));
  options.throughputs = write("speeds.json", kSpeeds);
  EXPECT_THAT(error("a.trace", "GAN\tx\t-n\t0\t1\t1\t1\n"),
              HasSubstr("a.trace:1: no throughput is known of GAN"));
  EXPECT_THAT(error("a.trace", "GAN\tx\t-n\t0\t1\t1\n"), HasSubstr("6 fields instead of 7"));
  options.device = "k80";
  EXPECT_THAT(error("a.trace", "LM (batch size 5)\tx\t-n\t0\t1\t1\t1\n"),
              HasSubstr("no throughput is known"));
  options.device = "tpu";
  EXPECT_THAT(error("a.trace", ""), HasSubstr("has no device tpu"));
  options.throughputs = write("speeds.json", "[]");
  EXPECT_THAT(error("a.trace", ""), HasSubstr("no JSON object"));
  options.throughputs = "/nowhere/speeds.json";
  EXPECT_THAT(error("a.trace", ""), HasSubstr("cannot read /nowhere/speeds.json"));
  options.throughputs = "/";
  EXPECT_THAT(error("a.trace", ""), HasSubstr("cannot read /"));
}

TEST_F(FairTrace, JobsAreNotLargerThanTheCluster) {
  const auto found = declare(*read("jobs.csv", "a,0,9,5\n"), 1);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("a job of a needs 9 GPUs, and the cluster has 8"));
  EXPECT_FALSE(declare(*read("jobs.csv", ""), 1)) << "no jobs";
}

}  // namespace
}  // namespace gpupool::bench::fair
