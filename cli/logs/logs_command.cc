// SPDX-License-Identifier: Apache-2.0
#include "logs/logs_command.h"

#include <sys/resource.h>

#include <numeric>
#include <string>
#include <utility>

#include "command/exit_code.h"
#include "jobs/outcome.h"
#include "logs/job_watch.h"
#include "logs/log_follower.h"
#include "objects/job.h"
#include "screen/plain_text.h"

namespace gpupool::logs {
namespace {

constexpr std::int64_t kMaxStreams = 200;
constexpr std::int64_t kMostStreams = 10'000;
constexpr std::int64_t kMostLines = 1'000'000'000;

// Each stream is a connection.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

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
            "after 64 KiB.",
        .example =
            "kubectl gpupool logs resnet\n"
            "kubectl gpupool logs -f resnet --all\n"
            "kubectl gpupool logs resnet --rank 0,4-7 --tail 100 --grep 'loss|Error'\n"
            "kubectl gpupool logs resnet --all-attempts --since 1h"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", job_, "The job", command::Offer::kJobs);
    flags.yes("-f,--follow", follow_, "Go on until the job ends");
    flags.text("--rank", ranks_, "RANKS", "Only these ranks, as 0,3-7");
    flags.yes("--all", all_, "All ranks");
    flags.number("--attempt", attempt_, "N", "Only this attempt; attempts count from 0", 0, kMostLines);
    flags.yes("--all-attempts", all_attempts_, "All attempts whose pods are still there, oldest first");
    flags.duration("--since", since_, "Only lines of the last so much time");
    flags.number("--tail", tail_, "LINES", "At first, only the last so many lines of each rank", 0,
                 kMostLines);
    flags.text("--grep", grep_, "RE2", "Only lines that contain a match of this regular expression");
    flags.yes("-t,--timestamps", timestamps_, "The time before each line");
    flags.yes("--raw", raw_, "Lines as the workers printed them: no ranks, nothing dropped");
    flags.yes("--exit", exit_, "With --follow: end with the exit code of the job");
    flags.number("--max-streams", max_streams_, "N", "At most so many ranks of an attempt, 200 if not given",
                 1, kMostStreams);
  }

  base::Result<int> run(command::Context& context) override {
    if (auto fits = check_flags(); !fits) return tl::unexpected<base::Error>(fits.error());
    std::optional<LineFilter> filter;
    if (!grep_.empty()) {
      auto made = LineFilter::make(grep_);
      if (!made) return tl::unexpected<base::Error>(made.error());
      filter = std::move(*made);
    }
    auto name = objects::job_name(job_);
    if (!name) return tl::unexpected<base::Error>(name.error());
    job_ = std::move(*name);
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    auto picture = take_picture((*session)->client(), {(*session)->ns(), job_}, context.stop);
    if (!picture) return tl::unexpected<base::Error>(picture.error());
    auto options = follow_options(picture->job, (*session)->clock());
    if (!options) return tl::unexpected<base::Error>(options.error());
    if (options->wanted.max_streams > kMaxStreams) allow_many_files();

    ScreenWriter screen(context.out, context.err, style(picture->job, *options, context.terminal.colour),
                        std::move(filter), !raw_ && (follow_ || all_attempts_));
    const auto end = show(**session, std::move(*picture), std::move(*options), screen, context.stop);
    if (!end) return tl::unexpected<base::Error>(end.error());
    return exit_code_of_end(*end, context);
  }

 private:
  base::Result<void> check_flags() const {
    const auto both = [](bool one, bool other, const char* names) -> base::Result<void> {
      if (one && other) return base::fail(base::ErrorCode::kInvalidArgument, std::string(names));
      return {};
    };
    if (auto ok = both(all_, !ranks_.empty(), "--all and --rank exclude each other"); !ok) return ok;
    if (auto ok =
            both(all_attempts_, attempt_.has_value(), "--attempt and --all-attempts exclude each other");
        !ok) {
      return ok;
    }
    return both(exit_, !follow_, "--exit needs --follow");
  }

  base::Result<FollowOptions> follow_options(const api::GpuJob& job, base::Clock& clock) const {
    FollowOptions options{.follow = follow_, .raw = raw_, .tail_lines = tail_};
    const auto workers = api::worker_count(job.spec);
    if (all_) {
      options.wanted.ranks.resize(static_cast<std::size_t>(workers));
      std::iota(options.wanted.ranks.begin(), options.wanted.ranks.end(), 0);
    } else if (!ranks_.empty()) {
      auto ranks = parse_ranks(ranks_, workers - 1);
      if (!ranks) return tl::unexpected<base::Error>(ranks.error());
      options.wanted.ranks = std::move(*ranks);
    }
    options.wanted.attempt = attempt_;
    options.wanted.all_attempts = all_attempts_;
    options.wanted.max_streams = max_streams_.value_or(kMaxStreams);
    if (since_) options.since = clock.wall() - *since_;
    return options;
  }

  TextStyle style(const api::GpuJob& job, const FollowOptions& options, bool colours) const {
    const auto workers = api::worker_count(job.spec);
    return {.ranks = workers > 1 && options.wanted.ranks.size() != 1,
            .rank_width = static_cast<int>(std::to_string(workers - 1).size()),
            .timestamps = timestamps_,
            .colours = !raw_ && colours,
            .raw = raw_};
  }

  base::Result<FollowEnd> show(command::Session& session, Picture picture, FollowOptions options,
                               ScreenWriter& screen, const std::stop_token& stop) const {
    kube::Client& client = session.client();
    LogFollower follower(
        std::move(options),
        [&client](const api::ObjectKey& pod, const kube::LogOptions& asked,
                  const std::function<bool(std::string_view)>& on_piece, std::stop_token stopped) {
          return client.pod_log(pod, asked, on_piece, std::move(stopped));
        },
        screen, session.clock());
    std::optional<JobWatch> watch;
    if (follow_) {
      picture.pods.clear();
      follower.update(picture);
      watch.emplace(client, session.clock(), std::move(picture.job),
                    [&follower](Picture newest) { follower.update(std::move(newest)); });
    } else {
      follower.update(std::move(picture));
    }
    return follower.run(stop);
  }

  base::Result<int> exit_code_of_end(const FollowEnd& end, const command::Context& context) const {
    namespace exit_code = command::exit_code;
    const auto& status = end.job.status;
    if (context.stop.stop_requested()) {
      if (follow_ && !end.job_over) {
        context.err << "\nThe job runs on. To see more of it: kubectl gpupool logs -f " << job_ << "\n";
      }
      return exit_code::kInterrupted;
    }
    if (!end.any_worker && !end.job_over) {
      return base::fail(base::ErrorCode::kIo, job_ + " has no logs yet: it is " +
                                                  screen::plain_text(status.phase + ", " + status.reason) +
                                                  (attempt_ ? ", and no pod is of that attempt" : ""));
    }
    if (exit_ && end.job_over) {
      return end.job.finished() ? jobs::outcome_code(end.job) : exit_code::kNotTheCommand;
    }
    return end.complete ? exit_code::kGood : exit_code::kError;
  }

  std::string job_;
  bool follow_ = false;
  std::string ranks_;
  bool all_ = false;
  std::optional<std::int64_t> attempt_;
  bool all_attempts_ = false;
  std::optional<std::chrono::milliseconds> since_;
  std::optional<std::int64_t> tail_;
  std::string grep_;
  bool timestamps_ = false;
  bool raw_ = false;
  bool exit_ = false;
  std::optional<std::int64_t> max_streams_;
};

}  // namespace

std::unique_ptr<command::Command> make_logs() { return std::make_unique<Logs>(); }

}  // namespace gpupool::logs
