// SPDX-License-Identifier: Apache-2.0
#include "jobs/await_end.h"

#include "command/deadline.h"
#include "command/duration.h"
#include "jobs/follow.h"
#include "jobs/outcome.h"
#include "screen/plain_text.h"

namespace gpupool::jobs {
namespace {

// What is told of a state: "Queued (WaitingForNodes): ...". Of a message only the first line, except at the
// end.
std::string news(const api::GpuJob& job) {
  const auto& status = job.status;
  std::string text = status.phase.empty() ? "created" : status.phase.string();
  if (!status.reason.empty()) text += " (" + status.reason + ")";
  if (!status.message.empty()) {
    text += ": " + (job.finished() ? status.message : status.message.substr(0, status.message.find('\n')));
  }
  return screen::plain_lines(text);
}

}  // namespace

base::Result<int> await_end(command::Context& context, command::Session& session,
                            const AwaitOptions& options) {
  const command::Deadline deadline(options.timeout, context.clock, context.stop);
  std::optional<int> code;
  std::string told;
  const OnState on_state = [&](const api::GpuJob& job) {
    if (const std::string text = news(job); text != told && !options.quiet) {
      told = text;
      context.err << options.name << " " << text << std::endl;
    }
    if (job.finished()) code = outcome_code(job);
    return !code;
  };
  const auto followed = follow_job(session, {session.ns(), options.name}, options.uid, on_state,
                                   command::tell_away(context.err), deadline.token());
  if (code) return *code;
  if (deadline.expired()) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*options.timeout);
    context.err << "error: timed out after " << command::age_text(seconds) << ": " << options.name
                << " has not ended\n";
    return command::exit_code::kDeadline;
  }
  if (followed) return command::exit_code::kGood;
  if (followed.error().code == base::ErrorCode::kCancelled && !options.quiet) {
    context.err << "no longer waiting; the job goes on. Wait again: kubectl gpupool wait " << options.name
                << "\n";
  }
  return tl::unexpected<base::Error>(followed.error());
}

}  // namespace gpupool::jobs
