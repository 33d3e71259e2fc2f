// SPDX-License-Identifier: Apache-2.0
#include "push/push_command.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/directory_watch.h"
#include "base/log.h"
#include "push/hold_report.h"
#include "push/push_results.h"
#include "push/worker_end.h"
#include "reporting/report_json.h"
#include "reporting/termination_log.h"

namespace gpupool::carry {
namespace {

constexpr base::Duration kLook = std::chrono::seconds(1);  // changes of the directory are seen at once
// Of the grace period, this much is left for the end of the program; the rest is for its results.
constexpr double kShareOfProgram = 0.6;
constexpr base::Duration kForReport = std::chrono::seconds(2);

bool names_rank(const api::JobResult& result, std::int64_t rank) {
  return result.ranks.empty() ? rank == 0 : std::ranges::find(result.ranks, rank) != result.ranks.end();
}

class Push {
 public:
  Push(const PushOptions& options, base::Clock& clock, std::stop_token stop)
      : options_(options), clock_(clock), stop_(std::move(stop)), began_(clock.now()) {
    for (const auto& result : options.results) {
      entries_.emplace_back(
          result, options.names, options.work,
          [&options, &result, &clock] {
            return make_target(result, options.names, options.claims, options.secrets, clock);
          },
          clock);
    }
  }

  api::TransferReport run() {
    const std::jthread ends_transfers([this](const std::stop_token& done) { end_transfers(done); });
    const auto end = await_end();
    const auto ended = clock_.now();
    api::TransferReport report;
    report.attempt = options_.names.attempt;
    for (auto& entry : entries_) {
      report.items.push_back(finish(entry, end, ended));
      report.bytes += report.items.back().bytes;
    }
    report.milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - ended).count();
    return report;
  }

 private:
  bool is_wanted(const ResultPush& entry) const { return names_rank(entry.wanted(), options_.names.rank); }
  bool any_wanted() const {
    return std::ranges::any_of(entries_, [&](const ResultPush& entry) { return is_wanted(entry); });
  }
  base::Duration grace() const {
    const base::Duration grace = std::chrono::seconds(options_.grace_seconds);
    return std::max<base::Duration>(grace - kForReport, base::Duration::zero());
  }

  // Transfers go on after a stop signal, until the grace period is nearly over.
  void end_transfers(const std::stop_token& done) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    std::stop_callback wake(stop_, [&never] { never.notify_all(); });
    never.wait(lock, done, [this] { return stop_.stop_requested(); });
    if (done.stop_requested()) return;
    never.wait_for(lock, done, grace(), [] { return false; });
    abort_.request_stop();
  }

  // The end of the command; nothing if the pod is over before.
  std::optional<WorkerEnd> await_end() {
    if (!any_wanted()) return WorkerEnd{};
    WorkerWatch watch(options_.launcher);
    base::DirectoryWatch changes(options_.launcher, base::Log(base::LogLevel::kError));
    std::optional<base::SteadyTime> last_moment;
    for (;;) {
      if (auto end = watch.look(clock_.now())) return end;
      if (stop_.stop_requested() && !last_moment) {
        if (!watch.begun()) return std::nullopt;
        last_moment = clock_.now() + std::chrono::duration_cast<base::Duration>(grace() * kShareOfProgram);
      }
      if (last_moment && clock_.now() >= *last_moment) return std::nullopt;
      if (watch.begun()) sync();
      // The end of a launcher that was killed changes no file.
      changes.wait(kLook, last_moment ? std::stop_token() : stop_);
    }
  }

  void sync() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      auto& entry = entries_[i];
      if (entry.wanted().sync_seconds == 0 || !is_wanted(entry)) continue;
      const auto next = synced_.try_emplace(i, began_).first;
      const auto now = clock_.now();
      if (now < next->second + std::chrono::seconds(entry.wanted().sync_seconds)) continue;
      entry.sync(now + std::chrono::seconds(entry.wanted().timeout_seconds), abort_.get_token());
      next->second = clock_.now();
    }
  }

  api::TransferredItem finish(ResultPush& entry, const std::optional<WorkerEnd>& end,
                              base::SteadyTime ended) {
    api::TransferredItem item;
    item.path = entry.wanted().from;
    const bool only_success = entry.wanted().when == api::results_when::kOnSuccess;
    if (!is_wanted(entry) || (end && only_success && !end->succeeded)) {
      item.state = api::transfer_state::kSkipped;
      return item;
    }
    const auto deadline = ended + std::chrono::seconds(entry.wanted().timeout_seconds);
    if (end) return entry.finish(deadline, abort_.get_token());
    item.state = api::transfer_state::kIncomplete;
    item.message = "the pod was ended before the command";
    if (!only_success) entry.sync(deadline, abort_.get_token());
    return item;
  }

  const PushOptions& options_;
  base::Clock& clock_;
  const std::stop_token stop_;
  const base::SteadyTime began_;
  std::stop_source abort_;
  std::vector<ResultPush> entries_;
  std::map<std::size_t, base::SteadyTime> synced_;  // by index of the entry
};

}  // namespace

int push_results(const PushOptions& options, base::Clock& clock, std::stop_token stop) {
  if (repeat_report(options.launcher, options.termination_log)) {
    if (options.hold) hold_report(options.launcher, clock, stop);
    return 0;
  }
  const auto text = to_json(Push(options, clock, stop).run(), options.report_bytes);
  std::fprintf(stdout, "%s\n", text.c_str());
  for (const auto& done :
       {store_report(options.launcher, text), write_termination_log(options.termination_log, text)}) {
    if (!done) std::fprintf(stderr, "gpupool-carry: %s\n", done.error().message.c_str());
  }
  return 0;
}

}  // namespace gpupool::carry
