#include "launcher/options.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace gpupool::launcher {
namespace {

using Variables = std::map<std::string, std::string>;

Expected<Options> parse(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  return parse_run(arguments, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Options, ReadsTheEnvironmentTheOperatorSets) {
  const auto options = parse({"--", "python", "train.py"}, {{"GPUPOOL_STATE_DIR", "/s"},
                                                            {"GPUPOOL_JOB", "resnet"},
                                                            {"GPUPOOL_ATTEMPT", "4"},
                                                            {"GPUPOOL_POD_NAME", "resnet-4-2"},
                                                            {"GPUPOOL_NNODES", "3"},
                                                            {"GPUPOOL_NPROC", "8"},
                                                            {"GPUPOOL_MASTER_ADDR", "resnet-4-0.resnet-4"},
                                                            {"GPUPOOL_MASTER_PORT", "1234"},
                                                            {"GPUPOOL_MASTER_TIMEOUT", "7"},
                                                            {"GPUPOOL_HOLD", "1"}});
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
  EXPECT_EQ(options->command, (std::vector<std::string>{"python", "train.py"}));
}

TEST(Options, OneWorkerIsRankZeroWhateverItsPodIsCalled) {
  const auto options = parse({"--", "true"}, {{"GPUPOOL_POD_NAME", "resnet-0-x7kd2"}, {"GPUPOOL_HOLD", ""}});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->node_rank, 0);
  EXPECT_EQ(options->master_addr, "localhost");
  EXPECT_FALSE(options->hold);
}

TEST(Options, FlagsWinOverVariablesAndTheCommandKeepsItsOwn) {
  const auto options =
      parse({"--nnodes=4", "--rank", "3", "--master-addr", "h", "--hold", "--", "cmd", "--rank", "--", ""},
            {{"GPUPOOL_RANK", "1"}, {"GPUPOOL_POD_NAME", "x-2"}});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->node_rank, 3);
  EXPECT_TRUE(options->hold);
  EXPECT_EQ(options->command, (std::vector<std::string>{"cmd", "--rank", "--", ""}));
}

struct BadCase {
  std::vector<std::string> arguments;
  Variables variables;
  std::string named;
};

TEST(Options, ErrorsNameTheFlagOrTheVariable) {
  const std::vector<BadCase> cases = {
      {{"--wrong", "--", "x"}, {}, "unknown flag --wrong"},
      {{"--rank", "1x", "--nnodes", "2", "--", "x"}, {}, "--rank: '1x'"},
      {{"--rank", "2", "--nnodes", "2", "--master-addr", "h", "--", "x"}, {}, "--rank: '2'"},
      {{"--rank", "-1", "--", "x"}, {}, "--rank: '-1'"},
      {{"--master-port=0", "--", "x"}, {}, "--master-port: '0'"},
      {{"--master-port=99999999999", "--", "x"}, {}, "--master-port: '99999999999'"},
      {{"--nproc=", "--", "x"}, {}, "--nproc: ''"},
      {{"--attempt"}, {}, "--attempt: needs a value"},
      {{"--attempt", "--", "x"}, {}, "--attempt: needs a value"},
      {{"--hold=maybe", "--", "x"}, {}, "--hold: 'maybe'"},
      {{"true"}, {}, "'true': write -- before the command"},
      {{"--rank", "0"}, {}, "no command"},
      {{"--"}, {}, "no command"},
      {{"--", "x"}, {{"GPUPOOL_NNODES", "two"}}, "GPUPOOL_NNODES: 'two'"},
      {{"--", "x"}, {{"GPUPOOL_MASTER_TIMEOUT", "-5"}}, "GPUPOOL_MASTER_TIMEOUT: '-5'"},
      {{"--", "x"}, {{"GPUPOOL_NNODES", "2"}}, "--rank: needed"},
      {{"--", "x"}, {{"GPUPOOL_NNODES", "2"}, {"GPUPOOL_POD_NAME", "a-2"}}, "GPUPOOL_POD_NAME: 'a-2'"},
      {{"--", "x"}, {{"GPUPOOL_NNODES", "2"}, {"GPUPOOL_POD_NAME", "a"}}, "GPUPOOL_POD_NAME: 'a'"},
      {{"--", "x"}, {{"GPUPOOL_NNODES", "2"}, {"GPUPOOL_POD_NAME", "a-"}}, "GPUPOOL_POD_NAME: 'a-'"},
      {{"--", "x"}, {{"GPUPOOL_NNODES", "2"}, {"GPUPOOL_RANK", "0"}}, "--master-addr: needed"},
  };
  for (const BadCase& bad : cases) {
    const auto options = parse(bad.arguments, bad.variables);
    ASSERT_FALSE(options) << bad.named;
    EXPECT_NE(options.error().find(bad.named), std::string::npos) << options.error();
  }
}

}  // namespace
}  // namespace gpupool::launcher
