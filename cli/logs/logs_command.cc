// SPDX-License-Identifier: Apache-2.0
#include "logs/logs_command.h"

#include <string>

#include "command/keeper.h"
#include "logs/show_logs.h"

namespace gpupool::logs {
namespace {

constexpr std::int64_t kMostStreams = 10'000;
constexpr std::int64_t kMostLines = 1'000'000'000;

class Logs final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "logs",
        .summary = "Print what a job's workers print",
        .text =
            "Without --rank and --all it shows rank 0 and the ranks that have failed. Without --follow it "
            "prints what there is and ends. With --follow it waits for workers that have not begun, goes "
            "on over restarts of workers, of nodes' agents and of the API server, and ends with the job.\n\n"
            "Each line is printed once, in the order in which its rank printed it; lines of several ranks "
            "are in the order of their times. Where lines may be missing, a note on the standard error "
            "output says so: a node keeps the newest part of a log only (10 MiB, by default). Control "
            "characters of the workers are dropped, a progress bar keeps its last state, and a line is cut "
            "after 64 KiB.\n\n"
            "Logs end with their pods, unless the cluster has a keeper of logs: then those of earlier "
            "attempts and "
            "of jobs that were deleted come from there. --uid names one of several jobs that had the same "
            "name; "
            "`kubectl gpupool list --finished` shows them.",
        .example =
            "kubectl gpupool logs resnet\n"
            "kubectl gpupool logs -f resnet --all\n"
            "kubectl gpupool logs resnet --rank 0,4-7 --tail 100 --grep 'loss|Error'\n"
            "kubectl gpupool logs resnet --all-attempts --since 1h"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", options_.job, "The job", command::Offer::kJobs);
    flags.yes("-f,--follow", options_.follow, "Go on until the job ends");
    flags.text("--rank", options_.ranks, "RANKS", "Only these ranks, as 0,3-7");
    flags.yes("--all", options_.all, "All ranks");
    flags.number("--attempt", options_.attempt, "N", "Only this attempt; attempts count from 0", 0,
                 kMostLines);
    flags.yes("--all-attempts", options_.all_attempts,
              "All attempts whose logs are still there, oldest first");
    flags.text("--uid", options_.uid, "UID", "The job that had this UID; its log comes from the keeper");
    flags.yes("--stored", options_.stored,
              "From the keeper of logs, also where pods are still there: a node keeps the newest part alone");
    add_keeper_flag(flags, options_.keeper);
    flags.duration("--since", options_.since, "Only lines of the last so much time");
    flags.number("--tail", options_.tail, "LINES", "At first, only the last so many lines of each rank", 0,
                 kMostLines);
    flags.text("--grep", options_.grep, "RE2", "Only lines that contain a match of this regular expression");
    flags.yes("-t,--timestamps", options_.timestamps, "The time before each line");
    flags.yes("--raw", options_.raw, "Lines as the workers printed them: no ranks, nothing dropped");
    flags.yes("--exit", options_.exit, "With --follow: end with the exit code of the job");
    flags.number("--max-streams", options_.max_streams, "N",
                 "At most so many ranks of an attempt, 200 if not given", 1, kMostStreams);
  }

  base::Result<int> run(command::Context& context) override { return show_logs(options_, context); }

 private:
  ShowOptions options_;
};

}  // namespace

std::unique_ptr<command::Command> make_logs() { return std::make_unique<Logs>(); }

}  // namespace gpupool::logs
