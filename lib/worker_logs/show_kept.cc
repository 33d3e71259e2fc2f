// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/show_kept.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "worker_logs/line_hub.h"
#include "worker_logs/log_source.h"

namespace gpupool::logs {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWindow{2000};  // how long a line waits for earlier ones of other ranks
constexpr milliseconds kBetweenWrites{20};
constexpr milliseconds kTick{1000};

void write_due(LineHub& hub, const std::vector<std::unique_ptr<LogSource>>& sources, LogOutput& output,
               bool all) {
  for (const auto& item : hub.take_due(all)) output.line(sources[item.log]->identity().rank, item.line);
}

std::string heading(const KeptAttempt& attempt) {
  std::string text = attempt.job + ", attempt " + std::to_string(attempt.attempt);
  if (attempt.ranks > 1) text += ", " + std::to_string(attempt.ranks) + " ranks";
  text += ", stored by the keeper";
  if (!attempt.outcome.empty()) text += ": " + attempt.outcome;
  if (attempt.outcome == "exited") text += " with exit code " + std::to_string(attempt.exit_code);
  return text;
}

}  // namespace

base::Result<bool> show_kept(const KeptLogs& kept, const std::string& ns, const KeptAttempt& attempt,
                             const FollowOptions& options, LogOutput& output, base::Clock& clock,
                             const std::stop_token& stop) {
  output.note(heading(attempt));
  auto wanted = options.wanted.ranks;
  std::erase_if(wanted, [&](std::int64_t rank) { return rank >= attempt.ranks; });
  const RankChoice choice = wanted.empty() ? usual_ranks({}, options.wanted.max_streams)
                                           : limited(std::move(wanted), options.wanted.max_streams);
  if (choice.left_out > 0) output.left_out(choice.left_out, options.wanted.max_streams);
  const FetchLog fetch = kept.fetch(ns, attempt);
  LineHub hub(kWindow, clock);
  // Nothing more comes, so one read of each log is enough.
  const WorkerFacts facts{
      .known = true, .gone = false, .job_over = true, .state = {.output = Output::kEnded}};
  std::vector<std::unique_ptr<LogSource>> sources;
  for (const std::int64_t rank : choice.ranks) {
    ReaderOptions reader{.pod = {ns, std::to_string(rank)},
                         .container = {},
                         .raw = options.raw,
                         .since = options.since,
                         .tail_lines = options.tail_lines};
    sources.push_back(
        std::make_unique<LogSource>(LogSource::Identity{attempt.lease, rank, std::to_string(rank)},
                                    std::move(reader), facts, fetch, hub, clock));
  }
  const auto all_done = [&] {
    return std::ranges::all_of(sources, [](const auto& one) { return one->done(); });
  };
  while (!stop.stop_requested() && !all_done()) {
    write_due(hub, sources, output, false);
    if (!output.flush()) return false;
    const auto now = clock.now();
    hub.wait(now + kBetweenWrites, now + kTick, stop);
  }
  write_due(hub, sources, output, true);
  bool complete = !stop.stop_requested();
  for (const auto& source : sources) {
    if (!source->done()) continue;
    const auto& result = source->result();
    if (!result) return tl::unexpected<base::Error>(result.error());
    if (result->empty()) continue;
    complete = false;
    output.problem("rank " + std::to_string(source->identity().rank) + ": " + *result);
  }
  if (attempt.lost > 0) {
    output.problem(std::to_string(attempt.lost) +
                   " bytes of the attempt's output did not reach the keeper; "
                   "notes between the lines say where");
  }
  return output.flush() && complete;
}

}  // namespace gpupool::logs
