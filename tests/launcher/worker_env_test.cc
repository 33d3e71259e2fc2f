// SPDX-License-Identifier: Apache-2.0
#include "launcher/worker_env.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace gpupool::launcher {
namespace {

Options worker(int rank, int nodes, int per_node) {
  Options options;
  options.job = "resnet";
  options.attempt = 5;
  options.node_rank = rank;
  options.nodes = nodes;
  options.processes_per_node = per_node;
  options.master_addr = "m";
  options.master_port = 77;
  return options;
}

std::map<std::string, std::string> variables(const Options& options) {
  const EnvironmentEntries entries = worker_environment(options);
  return {entries.begin(), entries.end()};
}

TEST(WorkerEnvironment, OneProcessPerWorker) {
  const std::map<std::string, std::string> expected = {{"RANK", "2"},
                                                       {"WORLD_SIZE", "3"},
                                                       {"LOCAL_RANK", "0"},
                                                       {"MASTER_ADDR", "m"},
                                                       {"MASTER_PORT", "77"},
                                                       {"PET_NNODES", "3"},
                                                       {"PET_NODE_RANK", "2"},
                                                       {"PET_NPROC_PER_NODE", "1"},
                                                       {"PET_MASTER_ADDR", "m"},
                                                       {"PET_MASTER_PORT", "77"},
                                                       {"GPUPOOL_JOB", "resnet"},
                                                       {"GPUPOOL_ATTEMPT", "5"}};
  EXPECT_EQ(variables(worker(2, 3, 1)), expected);
}

TEST(WorkerEnvironment, SeveralProcessesPerWorkerCountGlobally) {
  auto found = variables(worker(2, 3, 8));
  EXPECT_EQ(found["RANK"], "16");
  EXPECT_EQ(found["WORLD_SIZE"], "24");
  EXPECT_EQ(found["PET_NODE_RANK"], "2");
  EXPECT_EQ(found["PET_NNODES"], "3");
  EXPECT_EQ(found["PET_NPROC_PER_NODE"], "8");
}

TEST(WorkerEnvironment, TellsACommandWithCheckpointsWhereTheyAre) {
  Options options = worker(0, 1, 1);
  auto expected = variables(options);
  options.state_dir = "/gpupool";
  options.checkpoint_dir = "/ckpt";
  options.grace_seconds = 120;
  expected.insert({{"GPUPOOL_CHECKPOINT_DIR", "/ckpt"},
                   {"GPUPOOL_RESUME", "0"},
                   {"GPUPOOL_NOTICE_FILE", "/gpupool/notice.json"},
                   {"GPUPOOL_GRACE_SECONDS", "120"},
                   {"GPUPOOL_REPORT_FILE", "/gpupool/report.json"}});
  EXPECT_EQ(variables(options), expected);
  options.resume = true;
  EXPECT_EQ(variables(options)["GPUPOOL_RESUME"], "1");
}

TEST(WorkerEnvironment, ReplacesWholeNamesOnly) {
  const auto merged = merged_environment({"RANK=9", "RANK2=x", "A=RANK=1", "RANK=8", "ODD"}, {{"RANK", "1"}});
  EXPECT_THAT(merged, testing::ElementsAre("RANK2=x", "A=RANK=1", "ODD", "RANK=1"));
}

}  // namespace
}  // namespace gpupool::launcher
