// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gpupool::launcher {
namespace {

using Arguments = std::vector<std::string>;

TEST(Options, ReadsTheFlagsTheOperatorGives) {
  const auto options =
      parse_run({"--state-dir=/s", "--job=resnet", "--attempt=4", "--pod-name=resnet-4-2", "--nnodes=3",
                 "--nproc=8", "--master-addr=resnet-4-0.resnet-4", "--master-port=1234", "--master-timeout=7",
                 "--hold", "--hold-seconds=5", "--result-bytes=1536", "--", "python", "train.py"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->state_dir, "/s");
  EXPECT_EQ(options->job, "resnet");
  EXPECT_EQ(options->attempt, 4);
  EXPECT_EQ(options->node_rank, 2);
  EXPECT_EQ(options->nodes, 3);
  EXPECT_EQ(options->processes_per_node, 8);
  EXPECT_EQ(options->master_addr, "resnet-4-0.resnet-4");
  EXPECT_EQ(options->master_port, 1234);
  EXPECT_EQ(options->master_timeout_seconds, 7);
  EXPECT_TRUE(options->hold);
  EXPECT_EQ(options->hold_seconds, 5);
  EXPECT_EQ(options->result_bytes, 1536);
  EXPECT_EQ(options->command, (Arguments{"python", "train.py"}));
}

TEST(Options, OneWorkerIsRankZeroWhateverItsPodIsCalled) {
  const auto options = parse_run({"--pod-name=resnet-0-x7kd2", "--hold=false", "--", "true"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->node_rank, 0);
  EXPECT_EQ(options->master_addr, "localhost");
  EXPECT_FALSE(options->hold);
  EXPECT_EQ(options->hold_seconds, 10);
  EXPECT_EQ(options->result_bytes, 3072);
}

TEST(Options, ValuesStandAloneOrAfterEqualsAndTheCommandKeepsItsOwn) {
  const auto options = parse_run({"--nnodes=4", "--rank", "3", "--pod-name", "x-2", "--master-addr", "h",
                                  "--hold", "--job", "--rank", "--", "cmd", "--rank", "--", ""});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->nodes, 4);
  EXPECT_EQ(options->node_rank, 3);
  EXPECT_EQ(options->job, "--rank");
  EXPECT_TRUE(options->hold);
  EXPECT_EQ(options->command, (Arguments{"cmd", "--rank", "--", ""}));
}

TEST(Options, ReadsWhatACommandWithCheckpointsNeeds) {
  const auto options = parse_run(
      {"--checkpoint-dir=/ckpt", "--notice=file", "--grace-seconds=120", "--resume=1", "--", "true"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->checkpoint_dir, "/ckpt");
  EXPECT_EQ(options->notice, NoticeMode::kFile);
  EXPECT_EQ(options->grace_seconds, 120);
  EXPECT_TRUE(options->resume);
  const auto usual = parse_run({"--checkpoint-dir=/ckpt", "--notice=signal", "--resume=0", "--", "true"});
  ASSERT_TRUE(usual) << usual.error();
  EXPECT_EQ(usual->notice, NoticeMode::kSignal);
  EXPECT_EQ(usual->grace_seconds, 30);
  EXPECT_FALSE(usual->resume);
  EXPECT_EQ(parse_run({"--", "true"})->checkpoint_dir, "");
}

struct BadCase {
  Arguments arguments;
  std::string named;
};

TEST(Options, ErrorsNameTheFlag) {
  const std::vector<BadCase> cases = {
      {{"--wrong", "--", "x"}, "unknown flag --wrong"},
      {{"--rank", "1x", "--nnodes", "2", "--", "x"}, "--rank: '1x'"},
      {{"--rank", "2", "--nnodes", "2", "--master-addr", "h", "--", "x"}, "--rank: '2'"},
      {{"--rank", "-1", "--", "x"}, "--rank: '-1'"},
      {{"--master-port=0", "--", "x"}, "--master-port: '0'"},
      {{"--master-port=99999999999", "--", "x"}, "--master-port: '99999999999'"},
      {{"--nproc=", "--", "x"}, "--nproc: ''"},
      {{"--attempt"}, "--attempt: needs a value"},
      {{"--attempt", "--", "x"}, "--attempt: needs a value"},
      {{"--hold=maybe", "--", "x"}, "--hold: 'maybe'"},
      {{"--hold-seconds=0", "--", "x"}, "--hold-seconds: '0'"},
      {{"--hold-seconds=86401", "--", "x"}, "--hold-seconds: '86401'"},
      {{"--result-bytes=127", "--", "x"}, "--result-bytes: '127'"},
      {{"--result-bytes=3073", "--", "x"}, "--result-bytes: '3073'"},
      {{"true"}, "'true': write -- before the command"},
      {{"--rank", "0"}, "no command"},
      {{"--"}, "no command"},
      {{"--nnodes=two", "--", "x"}, "--nnodes: 'two'"},
      {{"--master-timeout=-5", "--", "x"}, "--master-timeout: '-5'"},
      {{"--nnodes=2", "--", "x"}, "--rank: needed"},
      {{"--nnodes=2", "--pod-name=a-2", "--", "x"}, "--pod-name: 'a-2'"},
      {{"--nnodes=2", "--pod-name=a", "--", "x"}, "--pod-name: 'a'"},
      {{"--nnodes=2", "--pod-name=a-", "--", "x"}, "--pod-name: 'a-'"},
      {{"--nnodes=2", "--pod-name=$(GPUPOOL_POD_NAME)", "--", "x"}, "--pod-name: '$(GPUPOOL_POD_NAME)'"},
      {{"--nnodes=2", "--rank=0", "--", "x"}, "--master-addr: needed"},
      {{"--live-steps=1,x", "--live-id=a", "--", "x"}, "--live-steps: '1,x'"},
      {{"--live-steps=1,,2", "--live-id=a", "--", "x"}, "--live-steps: '1,,2'"},
      {{"--live-steps=2,2", "--live-id=a", "--", "x"}, "--live-steps: '2,2'"},
      {{"--live-steps=-1", "--live-id=a", "--", "x"}, "--live-steps: '-1'"},
      {{"--live-steps=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "--live-id=a", "--", "x"},
       "--live-steps: at most"},
      {{"--live-steps=1", "--", "x"}, "--live-id: needed"},
      {{"--checkpoint-dir=ckpt", "--", "x"}, "--checkpoint-dir: 'ckpt'"},
      {{"--checkpoint-dir=", "--", "x"}, "--checkpoint-dir: ''"},
      {{"--notice=File", "--", "x"}, "--notice: 'File'"},
      {{"--grace-seconds=0", "--", "x"}, "--grace-seconds: '0'"},
      {{"--resume=2", "--", "x"}, "--resume: '2'"},
  };
  for (const BadCase& bad : cases) {
    const auto options = parse_run(bad.arguments);
    ASSERT_FALSE(options) << bad.named;
    EXPECT_NE(options.error().find(bad.named), std::string::npos) << options.error();
  }
}

TEST(Options, TheTerminationLogIsFoundAmongBadArguments) {
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"--wrong", "--termination-log=/x", "--", "true"}, "/x"},
      {{"--termination-log", "/x", "--nproc=0", "--", "true"}, "/x"},
      {{"--termination-log=/x", "--termination-log=/y", "true"}, "/y"},
      {{"--wrong", "--", "--termination-log=/x"}, "/dev/termination-log"},
      {{"--termination-log", "--", "true"}, "/dev/termination-log"},
      {{"--termination-log"}, "/dev/termination-log"},
      {{"--termination-logs=/x"}, "/dev/termination-log"},
      {{}, "/dev/termination-log"},
  };
  for (const auto& [arguments, path] : cases) {
    ASSERT_FALSE(parse_run(arguments));
    EXPECT_EQ(report_options(arguments).termination_log, path);
  }
}

TEST(Options, TheSizeOfAResultIsFoundAmongBadArguments) {
  EXPECT_EQ(report_options({"--wrong", "--result-bytes=200", "--", "true"}).result_bytes, 200);
  EXPECT_EQ(report_options({"--result-bytes", "100", "--", "true"}).result_bytes, 3072);
  EXPECT_EQ(report_options({"--result-bytes=x"}).result_bytes, 3072);
}

}  // namespace
}  // namespace gpupool::launcher
