// SPDX-License-Identifier: Apache-2.0
#include "launcher/run.h"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>

#include "launcher/checkpoint_dir.h"
#include "launcher/clean_text.h"
#include "launcher/descendants.h"
#include "launcher/hold.h"
#include "launcher/log.h"
#include "launcher/log_push.h"
#include "launcher/master_wait.h"
#include "launcher/notice.h"
#include "launcher/path_search.h"
#include "launcher/push_target.h"
#include "launcher/report_file.h"
#include "launcher/result.h"
#include "launcher/spawn.h"
#include "launcher/state_dir.h"
#include "launcher/stored_env.h"
#include "launcher/supervise.h"
#include "launcher/termination_log.h"
#include "launcher/timestamp.h"
#include "launcher/worker_env.h"

namespace gpupool::launcher {
namespace {

// More than a result can take: escapes and terminal sequences are dropped later.
constexpr std::size_t kTailCapacity = 2 * kMaxTailBytes;

// How long the end may be put off, so that the keeper gets the rest of the output.
constexpr std::chrono::milliseconds kPushTime{500};

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

class Run {
 public:
  Run(const Options& options, std::vector<std::string> environment)
      : options_(options), environment_(std::move(environment)), state_(options.state_dir) {
    const std::string token = take_keeper_token(environment_);
    if (!options.keeper.empty()) open_push(token);
  }

  int start() {
    if (const std::optional<std::string> stored = state_.stored_result()) return repeat(*stored);
    if (const Expected<void> reserved = state_.reserve(); !reserved) return fail(reserved.error());
    if (const std::optional<std::string> marked_at = state_.marked_at()) return interrupted(*marked_at);
    variables_ = worker_environment(options_);
    if (const Expected<void> stored = store_env(options_.state_dir, variables_); !stored)
      log_line(stored.error());
    if (!options_.checkpoint_dir.empty()) {
      if (const Expected<void> prepared = prepare_checkpoint_dir(options_.checkpoint_dir); !prepared)
        return not_started(kExitLauncherError, "CheckpointDirectory", prepared.error());
    }
    adopt_orphans();
    const MasterWait wait = wait_for_master(options_, inbox_);
    if (wait.state == MasterState::kTimedOut) {
      return not_started(kExitMasterTimeout, "MasterTimeout",
                         "rank 0 did not accept a connection within " +
                             std::to_string(options_.master_timeout_seconds) + " s: " + wait.problem);
    }
    if (wait.state == MasterState::kStopped) {
      return not_started(kExitSignalBase + wait.signal, "Stopped",
                         signal_name(wait.signal) + " came while waiting for rank 0",
                         wait.from_outside ? wait.signal : 0);
    }
    return run_command();
  }

 private:
  [[nodiscard]] Result new_result(Outcome outcome, int exit_code, std::string reason,
                                  const std::string& message) const {
    Result result;
    result.attempt = options_.attempt;
    result.rank = options_.node_rank;
    result.outcome = outcome;
    result.exit_code = exit_code;
    result.reason = std::move(reason);
    result.message = clean_text(message);
    result.started_at = started_at_;
    result.finished_at = rfc3339_now();
    return result;
  }

  [[nodiscard]] std::string to_text(const Result& result) const {
    return to_json(result, static_cast<std::size_t>(options_.result_bytes));
  }

  // The termination message first: it is what Kubernetes shows, and it may be on another disk.
  void publish(const Result& result) {
    const std::string json = to_text(result);
    write_termination_log(options_.termination_log, json);
    if (const Expected<void> stored = state_.store(json); !stored) log_line(stored.error());
  }

  // Without it, everything else works.
  void open_push(const std::string& token) {
    Expected<PushTarget> target = make_push_target(options_, token);
    if (!target) return log_line("output is not sent to the keeper: " + target.error());
    push_.emplace(*std::move(target));
    if (const Expected<void> opened = push_->open(spool_file(options_)); opened) return;
    push_.reset();
    log_line("output is not sent to the keeper: its spool cannot be used");
  }

  // After the result was stored.
  void finish_push(std::string_view outcome, int exit_code) {
    if (push_) push_->finish(outcome, exit_code, kPushTime);
  }

  int fail(const std::string& problem) {
    log_line(problem);
    const Result result = new_result(Outcome::kNotStarted, kExitLauncherError, "LauncherError", problem);
    write_termination_log(options_.termination_log, to_text(result));
    return kExitLauncherError;
  }

  int not_started(int exit_code, const char* reason, const std::string& message, int stop_signal = 0) {
    log_line(message);
    started_at_.clear();
    Result result = new_result(Outcome::kNotStarted, exit_code, reason, message);
    if (stop_signal != 0) result.stop_signal = stop_signal;
    publish(result);
    finish_push(name_of(result.outcome), exit_code);
    return exit_code;
  }

  // What the command has reported of its last checkpoint, up to now.
  [[nodiscard]] Report report() const {
    return options_.checkpoint_dir.empty() ? Report() : read_report(report_file(options_));
  }

  int interrupted(const std::string& marked_at) {
    started_at_ = marked_at;
    Result result = new_result(Outcome::kInterrupted, kExitInterrupted, "Interrupted",
                               "the launcher was killed while the command ran; the command is not run again");
    result.report = report();
    publish(result);
    finish_push(name_of(result.outcome), kExitInterrupted);
    log_line(api::worker_result::kWasInterrupted);
    hold_result();
    return kExitInterrupted;
  }

  int repeat(const std::string& stored) {
    const int exit_code = exit_code_in(stored).value_or(kExitLauncherError);
    write_termination_log(options_.termination_log, stored);
    log_line("the command has ended with exit code " + std::to_string(exit_code) +
             std::string(api::worker_result::kRepeats));
    if (push_ && push_->has_rest()) {
      finish_push(outcome_in(stored), exit_code);
    } else if (push_) {
      push_->give_up();
    }
    const bool master = options_.node_rank == 0 && options_.nodes > 1 && options_.master_timeout_seconds > 0;
    hold_result(master && exit_code == 0 ? std::optional(options_.master_port) : std::nullopt);
    return exit_code;
  }

  // A kubelet forgets containers that ended long ago, and with them the result. So this container ends again
  // and again, and each start writes the result anew.
  void hold_result(std::optional<int> port = std::nullopt) {
    if (!options_.hold) return;
    const WallTime now = std::chrono::system_clock::now();
    const std::chrono::seconds least(options_.hold_seconds);
    hold(inbox_, hold_pause(state_.stored_at().value_or(now), now, least), port);
  }

  int run_command() {
    TailBuffer tail(kTailCapacity);
    Metrics metrics(options_.node_rank == 0 ? options_.metrics : std::vector<std::string>(),
                    options_.metric_step, options_.live_steps);
    MetricReader reader(metrics);
    MetricPipe pipe(metrics);
    if (!options_.metrics.empty()) {
      if (const Expected<void> made = pipe.open(metric_pipe(options_)); !made) return fail(made.error());
    }
    MetricServer server(metrics);
    if (!options_.live_steps.empty() && options_.node_rank == 0) {
      // The command may need the port itself. It runs without this.
      if (const Expected<void> opened =
              server.open(static_cast<std::uint16_t>(options_.live_port), options_.live_id);
          !opened)
        log_line("the numbers cannot be told while the command runs: " + opened.error());
    }
    OutputRelay relay(tail, reader, push_ ? &*push_ : nullptr);
    if (const Expected<void> opened = relay.open(); !opened) return fail(opened.error());
    started_at_ = rfc3339(std::time(nullptr));
    if (const Expected<void> marked = state_.mark(); !marked) return fail(marked.error());

    const SpawnRequest request{options_.command, merged_environment(environment_, variables_),
                               std::string(search_path(environment_)), relay.command_stdout(),
                               relay.command_stderr()};
    const std::variant<pid_t, ExecFailure> spawned = spawn(request, inbox_);
    relay.close_command_ends();
    if (const auto* failed = std::get_if<ExecFailure>(&spawned)) {
      return not_started(failed->exit_code, reason_of(failed->exit_code), failed->message);
    }
    Notice notice(notice_file(options_), options_.notice, std::chrono::seconds(options_.grace_seconds));
    Supervisor supervisor(std::get<pid_t>(spawned), inbox_, relay, pipe, server, push_ ? &*push_ : nullptr,
                          options_.checkpoint_dir.empty() ? nullptr : &notice);
    std::optional<Result> result;
    supervisor.run(
        [&](const Ending& ending) {
          result = result_of(ending);
          result->tail = clean_text(tail.text());
          reader.finish();
          pipe.pump();
          result->metrics = metrics.texts(api::worker_result::kMaxMetricsBytes);
          result->other_metrics = metrics.others();
          publish(*result);
        },
        [&](const Ending& ending) {
          if (result) {
            publish_later_report(*result);
          } else if (ending.stop_signal != 0) {
            foretell(ending);
          }
        });
    finish_push(name_of(result->outcome), result->exit_code);
    return result->exit_code;
  }

  // Whoever ignores the notice is killed at the end of the grace period, together with the launcher. Then
  // this is what Kubernetes shows.
  void foretell(const Ending& ending) {
    Report now = report();
    if (foretold_ && *foretold_ == now) return;
    Result result = new_result(
        Outcome::kInterrupted, kExitInterrupted, "Interrupted",
        "the command ran on after " + signal_name(ending.stop_signal) + ", and was killed with its launcher");
    result.stop_signal = ending.stop_signal;
    result.report = now;
    foretold_ = std::move(now);
    write_termination_log(options_.termination_log, to_text(result));
  }

  // The command may have been a shell that the stop signal ended, while what it had started saved its work.
  void publish_later_report(Result& result) {
    Report now = report();
    if (now == result.report) return;
    result.report = std::move(now);
    const std::string json = to_text(result);
    write_termination_log(options_.termination_log, json);
    if (const Expected<void> stored = state_.store_again(json); !stored) log_line(stored.error());
  }

  static const char* reason_of(int exit_code) {
    if (exit_code == kExitNotFound) return "CommandNotFound";
    return exit_code == kExitNotExecutable ? "CommandNotExecutable" : "LauncherError";
  }

  static std::string after_stop(const Ending& ending) {
    if (ending.stop_signal == 0) return "";
    const std::string signal = signal_name(ending.stop_signal);
    return ending.forwarded ? " after " + signal + " was forwarded to it" : " after the notice of " + signal;
  }

  [[nodiscard]] Result result_of(const Ending& ending) const {
    const int status = ending.wait_status;
    const std::string after = after_stop(ending);
    const int code = WIFSIGNALED(status) ? kExitSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
    Result result = WIFSIGNALED(status)
                        ? new_result(Outcome::kSignaled, code, "Signaled",
                                     "killed by " + signal_name(WTERMSIG(status)) + after)
                        : new_result(Outcome::kExited, code, code == 0 ? "Completed" : "Error",
                                     "exit code " + std::to_string(code) + after);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    if (ending.stop_signal != 0) result.stop_signal = ending.stop_signal;
    result.report = report();
    return result;
  }

  const Options& options_;
  std::vector<std::string> environment_;
  SignalInbox inbox_;
  StateDir state_;
  std::optional<LogPush> push_;
  EnvironmentEntries variables_;
  std::string started_at_;
  std::optional<Report> foretold_;  // in the termination message
};

}  // namespace

int run(const Options& options, const std::vector<std::string>& environment) {
  return Run(options, environment).start();
}

void report_unusable(const Options& options, const std::string& problem) {
  Result result;
  result.exit_code = kExitUsage;
  result.reason = "LauncherError";
  result.message = clean_text(problem);
  result.finished_at = rfc3339_now();
  const std::string json = to_json(result, static_cast<std::size_t>(options.result_bytes));
  write_termination_log(options.termination_log, json);
}

}  // namespace gpupool::launcher
