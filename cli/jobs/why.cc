// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

#include "api/v1alpha1/names.h"
#include "command/deadline.h"
#include "command/duration.h"
#include "jobs/commands.h"
#include "jobs/follow.h"
#include "objects/job.h"
#include "objects/output.h"
#include "screen/plain_text.h"

namespace gpupool::jobs {
namespace {

using base::ErrorCode;

// The operator answers a job once in ten seconds.
constexpr std::chrono::seconds kPatience{15};

// Differs from that of every other question.
std::string new_request() {
  std::random_device random;
  return std::to_string((std::uint64_t{random()} << 32U) | random());
}

class Why final : public command::Command {
 public:
  Manual manual() const override {
    return {.name = "why",
            .summary = "Tell why a job waits, and when it may start",
            .text =
                "Asks the operator, which answers in status.explanation of the job: what the job wants, what "
                "its pool\n"
                "has, which jobs are ahead (those of other namespaces are counted, not named), when it may "
                "start and from\n"
                "what that is known, and what would let it start sooner. Who may not change the job gets the "
                "last answer.",
            .example = "  kubectl gpupool why resnet"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", job_, "Name of the job", command::Offer::kJobs);
    flags.duration("--timeout", timeout_, "Longest time to wait for the answer; default: 15s");
    objects::add_output_flag(flags, output_, {"json", "yaml"});
  }

  base::Result<int> run(command::Context& context) override {
    if (const auto name = objects::job_name(job_); !name) return tl::unexpected<base::Error>(name.error());
    const auto opened = context.session();
    if (!opened) return tl::unexpected<base::Error>(opened.error());
    command::Session& session = **opened;
    const auto read = objects::read_job(session, job_, context.stop);
    if (!read) return tl::unexpected<base::Error>(read.error());
    const auto asked = ask(session, read->job, context);
    const bool forbidden = !asked && asked.error().code == ErrorCode::kForbidden;
    if (!asked && !(forbidden && read->job.status.explanation))
      return tl::unexpected<base::Error>(asked.error());
    const auto answered = asked ? objects::read_job(session, job_, context.stop) : read;
    if (!answered) return tl::unexpected<base::Error>(answered.error());
    if (forbidden) tell_age(session, read->job, context);
    print(*answered, context);
    return command::exit_code::kGood;
  }

 private:
  base::Result<void> ask(command::Session& session, const api::GpuJob& job, command::Context& context) const {
    const auto request = new_request();
    const nlohmann::json body = {{"metadata", {{"annotations", {{api::kExplain, request}}}}}};
    const auto key = job.metadata.key();
    const auto patched = session.client().patch(api::GpuJob::kType, key, kube::PatchType::kMerge, body.dump(),
                                                "", context.stop);
    if (!patched) return tl::unexpected<base::Error>(patched.error());
    const auto limit = timeout_.value_or(kPatience);
    const command::Deadline deadline(limit, context.clock, context.stop);
    const auto followed = follow_job(
        session, key, job.metadata.uid,
        [&](const api::GpuJob& now) {
          return !now.status.explanation || now.status.explanation->request != request;
        },
        [&](const std::string&) {}, deadline.token());
    if (followed || !deadline.expired()) return followed;
    return base::fail(ErrorCode::kTimeout,
                      "the operator has not answered within " +
                          command::age_text(std::chrono::duration_cast<std::chrono::seconds>(limit)) +
                          "; does it run, and is its version that of this program? (kubectl gpupool doctor)");
  }

  static void tell_age(command::Session& session, const api::GpuJob& job, command::Context& context) {
    const auto& time = job.status.explanation->time;
    const auto age = time ? session.clock().wall() - *time : std::chrono::seconds(0);
    context.err << "you may not ask (the right to patch gpujobs); this is an answer from "
                << command::age_text(std::chrono::duration_cast<std::chrono::seconds>(age)) << " ago\n";
  }

  void print(const objects::ReadJob& read, command::Context& context) const {
    if (output_.empty()) {
      const auto text = screen::plain_lines(read.job.status.explanation->text);
      context.out << text << (text.ends_with('\n') ? "" : "\n");
      return;
    }
    nlohmann::ordered_json answer = {{"apiVersion", objects::kOutputVersion},
                                     {"kind", "Explanation"},
                                     {"name", read.job.metadata.name},
                                     {"namespace", read.job.metadata.ns}};
    answer.update(nlohmann::ordered_json::parse(read.text).at("status").at("explanation"));
    context.out << objects::printed(answer.dump(), output_);
  }

  std::string job_;
  std::string output_;
  std::optional<std::chrono::milliseconds> timeout_;
};

}  // namespace

std::unique_ptr<command::Command> make_why() { return std::make_unique<Why>(); }

}  // namespace gpupool::jobs
