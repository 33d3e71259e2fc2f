// SPDX-License-Identifier: Apache-2.0
// cancel, suspend, resume and priority: one write for each job.
#include <string>
#include <vector>

#include "base/json.h"
#include "command/problem.h"
#include "jobs/commands.h"
#include "jobs/confirm.h"
#include "objects/job.h"

namespace gpupool::jobs {
namespace {

using objects::ReadJob;

std::string full_name(const api::GpuJob& job) { return "gpujob.gpupool.dev/" + job.metadata.name; }

// A command that does the same to each job that it is given. One that fails does not keep it from the others.
class OnEachJob : public command::Command {
 public:
  void add_flags(command::Flags& flags) override {
    flags.arguments("JOB", jobs_, "Name of the job", command::Offer::kJobs);
    flags.yes("-y,--yes", yes_, "Do not ask");
  }

  base::Result<int> run(command::Context& context) override {
    for (const std::string& word : jobs_) {
      if (const auto name = objects::job_name(word); !name) return tl::unexpected<base::Error>(name.error());
    }
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    int code = command::exit_code::kGood;
    for (const std::string& word : jobs_) {
      const auto read = objects::read_job(**session, word, context.stop);
      const auto done = read ? on_job(**session, *read, context) : tl::unexpected<base::Error>(read.error());
      if (done) continue;
      if (done.error().code == base::ErrorCode::kCancelled) return tl::unexpected<base::Error>(done.error());
      context.err << command::problem_text(done.error());
      code = command::exit_code::kError;
    }
    return code;
  }

 protected:
  virtual base::Result<void> on_job(command::Session& session, const ReadJob& read,
                                    command::Context& context) = 0;

  bool may(command::Context& context, const std::string& question) const {
    return yes_ || confirmed(context, question);
  }

  static base::Result<void> patch(command::Session& session, const api::GpuJob& job, const std::string& body,
                                  const std::stop_token& stop) {
    const auto patched = session.client().patch(api::GpuJob::kType, job.metadata.key(),
                                                kube::PatchType::kMerge, body, "", stop);
    if (!patched) return tl::unexpected<base::Error>(patched.error());
    return {};
  }

 private:
  std::vector<std::string> jobs_;
  bool yes_ = false;
};

class Cancel final : public OnEachJob {
 public:
  Manual manual() const override {
    return {.name = "cancel",
            .summary = "Stop jobs and delete them",
            .text =
                "Workers are stopped, their nodes are given back, and the job is deleted, with its pods and "
                "their logs.\n"
                "Use suspend to keep the job. On a terminal it asks first.",
            .example =
                "  kubectl gpupool cancel resnet\n"
                "  kubectl gpupool list --phase queued -o name | xargs kubectl gpupool cancel -y"};
  }

 private:
  base::Result<void> on_job(command::Session& session, const ReadJob& read,
                            command::Context& context) override {
    const api::GpuJob& job = read.job;
    if (job.metadata.deleting()) {
      context.out << full_name(job) << " is being cancelled already\n";
      return {};
    }
    if (!may(context, "Cancel " + job.metadata.name + " (" + objects::short_state(job) +
                          ")? It is deleted, with the logs of its pods.")) {
      return {};
    }
    const auto removed = session.client().remove(api::GpuJob::kType, job.metadata.key(),
                                                 {.uid = job.metadata.uid}, context.stop);
    if (!removed) return tl::unexpected<base::Error>(removed.error());
    context.out << full_name(job) << " cancelled\n";
    return {};
  }
};

class Suspend final : public OnEachJob {
 public:
  Manual manual() const override {
    return {.name = "suspend",
            .summary = "Stop jobs, and keep them for later",
            .text =
                "Workers are stopped and their nodes are given back. resume puts the job into the queue "
                "again; its command\n"
                "then begins anew, and goes on only if it reads a checkpoint of its own. On a terminal it "
                "asks first.",
            .example = "  kubectl gpupool suspend resnet"};
  }

 private:
  base::Result<void> on_job(command::Session& session, const ReadJob& read,
                            command::Context& context) override {
    const api::GpuJob& job = read.job;
    if (job.finished()) {
      return base::fail(base::ErrorCode::kConflict,
                        job.metadata.name + " has ended: " + objects::short_state(job));
    }
    if (job.spec.suspend) {
      context.out << full_name(job) << " is suspended already\n";
      return {};
    }
    if (job.status.lease &&
        !may(context, "Suspend " + job.metadata.name + " (" + objects::short_state(job) +
                          ")? Its command is stopped, and begins anew when it is resumed.")) {
      return {};
    }
    if (auto done = patch(session, job, R"({"spec":{"suspend":true}})", context.stop); !done) return done;
    context.out << full_name(job) << " suspended\n";
    return {};
  }
};

class Resume final : public OnEachJob {
 public:
  Manual manual() const override {
    return {.name = "resume",
            .summary = "Put suspended jobs into the queue again",
            .example = "  kubectl gpupool resume resnet"};
  }

 private:
  base::Result<void> on_job(command::Session& session, const ReadJob& read,
                            command::Context& context) override {
    const api::GpuJob& job = read.job;
    if (!job.spec.suspend) {
      return base::fail(base::ErrorCode::kConflict,
                        job.metadata.name + " is not suspended: " + objects::short_state(job));
    }
    if (auto done = patch(session, job, R"({"spec":{"suspend":false}})", context.stop); !done) return done;
    context.out << full_name(job) << " resumed\n";
    return {};
  }
};

class Priority final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "priority",
        .summary = "Change the place of a job in the queue",
        .text =
            "Jobs with a higher number leave the queue first. A running job is never stopped for another.",
        .example = "  kubectl gpupool priority resnet 10"};
  }

  void add_flags(command::Flags& flags) override {
    static constexpr std::int64_t kMost = 1000000;
    flags.argument("JOB", job_, "Name of the job", command::Offer::kJobs);
    flags.number_argument("N", priority_, "Number from -1000000 to 1000000", -kMost, kMost);
  }

  base::Result<int> run(command::Context& context) override {
    const auto name = objects::job_name(job_);
    if (!name) return tl::unexpected<base::Error>(name.error());
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    const std::string body = R"({"spec":{"priority":)" + std::to_string(priority_) + "}}";
    const auto job = kube::decode<api::GpuJob>((*session)->client().patch(
        api::GpuJob::kType, {(*session)->ns(), *name}, kube::PatchType::kMerge, body, "", context.stop));
    if (!job) return tl::unexpected<base::Error>(job.error());
    context.out << full_name(*job) << " has priority " << priority_ << "\n";
    if (job->status.lease || job->finished()) {
      context.err << "It is " << objects::short_state(*job) << ": the number counts when it waits again.\n";
    }
    return command::exit_code::kGood;
  }

 private:
  std::string job_;
  std::int64_t priority_ = 0;
};

}  // namespace

std::unique_ptr<command::Command> make_cancel() { return std::make_unique<Cancel>(); }
std::unique_ptr<command::Command> make_suspend() { return std::make_unique<Suspend>(); }
std::unique_ptr<command::Command> make_resume() { return std::make_unique<Resume>(); }
std::unique_ptr<command::Command> make_priority() { return std::make_unique<Priority>(); }

}  // namespace gpupool::jobs
