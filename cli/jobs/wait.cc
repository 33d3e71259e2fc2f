// SPDX-License-Identifier: Apache-2.0
#include "jobs/await_end.h"
#include "jobs/commands.h"
#include "objects/job.h"

namespace gpupool::jobs {
namespace {

class Wait final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "wait",
        .summary = "Wait until a job has succeeded or failed",
        .text =
            "Ends with the exit code of the job: 0 if it has succeeded, else that of the rank that failed "
            "first;\n"
            "124 if the job's deadline or --timeout is over, 125 if it failed for a reason that is not its\n"
            "command's. Changes of its state are printed to stderr. It goes on when the API server was away.",
        .example = "  kubectl gpupool wait resnet --timeout 2h && ./evaluate"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", job_, "Name of the job", command::Offer::kJobs);
    flags.duration("--timeout", timeout_, "Longest time to wait, such as 90s or 2h; default: without end");
    flags.yes("-q,--quiet", quiet_, "Print no changes");
  }

  base::Result<int> run(command::Context& context) override {
    const auto name = objects::job_name(job_);
    if (!name) return tl::unexpected<base::Error>(name.error());
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    return await_end(context, **session, {.name = *name, .timeout = timeout_, .quiet = quiet_});
  }

 private:
  std::string job_;
  std::optional<std::chrono::milliseconds> timeout_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<command::Command> make_wait() { return std::make_unique<Wait>(); }

}  // namespace gpupool::jobs
