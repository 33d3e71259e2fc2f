// SPDX-License-Identifier: Apache-2.0
#include "general/complete.h"

#include <gtest/gtest.h>

#include "jobs/commands.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

std::string complete(const std::vector<std::string>& words) {
  command::Registry registry;
  registry.add("Jobs", jobs::make_list());
  registry.add("Jobs", jobs::make_cancel());
  registry.add("Jobs", jobs::make_priority());
  registry.add("Other", general::make_completion());
  static base::SystemClock clock;
  test::PlayedServer server([](const net::HttpRequest& request) {
    const std::string kind = request.target.find("gpupools") != std::string::npos ? "pool" : "job";
    const std::string where = request.target.find("namespaces/other") != std::string::npos ? "-other" : "";
    return test::answer(200, R"({"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":[")" +
                                 kind + where + R"(-a"]},{"cells":["x\u001b"]}]})");
  });
  return general::completions(registry, words, clock,
                              std::make_unique<command::Session>(server, clock, "lab"));
}

TEST(Complete, OffersWhatMayComeNext) {
  EXPECT_EQ(complete({""}),
            "list\tList jobs\ncancel\tStop jobs and delete them\n"
            "priority\tChange the place of a job in the queue\ncompletion\tPrint the completion script for a "
            "shell\n:4\n");
  EXPECT_EQ(complete({"li"}), "list\tList jobs\n:4\n");
  EXPECT_EQ(complete({"-n", "x", "li"}), "list\tList jobs\n:4\n");
  EXPECT_EQ(complete({"cancel", ""}), "job-a\nx \n:4\n");
  EXPECT_EQ(complete({"cancel", "a", "j"}), "job-a\n:4\n");
  EXPECT_EQ(complete({"cancel", "-n", "other", "j"}), "job-other-a\n:4\n");
  EXPECT_EQ(complete({"--namespace=other", "cancel", "j"}), "job-other-a\n:4\n");
  EXPECT_EQ(complete({"priority", "a", ""}), ":4\n");
  EXPECT_EQ(complete({"list", "--pool", "p"}), "pool-a\n:4\n");
  EXPECT_EQ(complete({"list", "-o", "w"}), "wide\n:4\n");
  EXPECT_EQ(complete({"list", "--all"}), "--all-namespaces\tJobs of all namespaces\n:4\n");
  EXPECT_EQ(complete({"list", "--kubeconfig", ""}), ":0\n");
  EXPECT_EQ(complete({"completion", "z"}), "zsh\n:4\n");
  EXPECT_EQ(complete({"nothing", ""}), ":4\n");
  EXPECT_EQ(complete({}), complete({""}));
}

}  // namespace
}  // namespace gpupool
