// SPDX-License-Identifier: Apache-2.0
#include "logs/show_logs.h"

#include <sys/resource.h>

#include <numeric>
#include <utility>

#include "command/exit_code.h"
#include "jobs/outcome.h"
#include "objects/job.h"
#include "screen/plain_text.h"
#include "worker_logs/job_watch.h"
#include "worker_logs/log_follower.h"

namespace gpupool::logs {
namespace {

// Each stream is a connection.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

base::Result<void> check(const ShowOptions& options) {
  const auto refuse = [](bool wrong, const char* why) -> base::Result<void> {
    if (wrong) return base::fail(base::ErrorCode::kInvalidArgument, why);
    return {};
  };
  if (auto ok = refuse(options.all && !options.ranks.empty(), "--all and --rank exclude each other"); !ok)
    return ok;
  if (auto ok =
          refuse(options.all_attempts && options.attempt, "--attempt and --all-attempts exclude each other");
      !ok) {
    return ok;
  }
  return refuse(options.exit && !options.follow, "--exit needs --follow");
}

base::Result<FollowOptions> follow_options(const ShowOptions& options, const api::GpuJob& job,
                                           base::Clock& clock) {
  FollowOptions follow{.follow = options.follow, .raw = options.raw, .tail_lines = options.tail};
  const auto workers = api::worker_count(job.spec);
  if (options.all) {
    follow.wanted.ranks.resize(static_cast<std::size_t>(workers));
    std::iota(follow.wanted.ranks.begin(), follow.wanted.ranks.end(), 0);
  } else if (!options.ranks.empty()) {
    auto ranks = parse_ranks(options.ranks, workers - 1);
    if (!ranks) return tl::unexpected<base::Error>(ranks.error());
    follow.wanted.ranks = std::move(*ranks);
  }
  follow.wanted.attempt = options.attempt;
  follow.wanted.all_attempts = options.all_attempts;
  follow.wanted.max_streams = options.max_streams.value_or(kMaxStreams);
  if (options.since) follow.since = clock.wall() - *options.since;
  return follow;
}

TextStyle style(const ShowOptions& options, const api::GpuJob& job, std::size_t ranks, bool colours) {
  const auto workers = api::worker_count(job.spec);
  return {.ranks = workers > 1 && ranks != 1,
          .rank_width = static_cast<int>(std::to_string(workers - 1).size()),
          .timestamps = options.timestamps,
          .colours = !options.raw && colours,
          .raw = options.raw};
}

base::Result<FollowEnd> follow(command::Session& session, Picture picture, FollowOptions options,
                               ScreenWriter& screen, const std::stop_token& stop) {
  kube::Client& client = session.client();
  const bool goes_on = options.follow;
  LogFollower follower(
      std::move(options),
      [&client](const api::ObjectKey& pod, const kube::LogOptions& asked,
                const std::function<bool(std::string_view)>& on_piece,
                std::stop_token stopped) { return client.pod_log(pod, asked, on_piece, std::move(stopped)); },
      screen, session.clock());
  std::optional<JobWatch> watch;
  if (goes_on) {
    picture.pods.clear();
    follower.update(picture);
    watch.emplace(client, session.clock(), std::move(picture.job),
                  [&follower](Picture newest) { follower.update(std::move(newest)); });
  } else {
    follower.update(std::move(picture));
  }
  return follower.run(stop);
}

base::Result<int> exit_code_of(const FollowEnd& end, const ShowOptions& options, const std::string& job,
                               const command::Context& context) {
  namespace exit_code = command::exit_code;
  const auto& status = end.job.status;
  if (context.stop.stop_requested()) {
    if (options.follow && !end.job_over) {
      context.err << "\nThe job runs on. To see more of it: kubectl gpupool logs -f " << job << "\n";
    }
    return exit_code::kInterrupted;
  }
  if (!end.any_worker && !end.job_over) {
    return base::fail(base::ErrorCode::kIo,
                      job + " has no logs yet: it is " +
                          screen::plain_text(status.phase.string() + ", " + status.reason) +
                          (options.attempt ? ", and no pod is of that attempt" : ""));
  }
  if (options.exit && end.job_over) {
    return end.job.finished() ? jobs::outcome_code(end.job) : exit_code::kNotTheCommand;
  }
  return end.complete ? exit_code::kGood : exit_code::kError;
}

}  // namespace

base::Result<int> show_logs(const ShowOptions& options, command::Context& context) {
  if (auto fits = check(options); !fits) return tl::unexpected<base::Error>(fits.error());
  std::optional<LineFilter> filter;
  if (!options.grep.empty()) {
    auto made = LineFilter::make(options.grep);
    if (!made) return tl::unexpected<base::Error>(made.error());
    filter = std::move(*made);
  }
  const auto name = objects::job_name(options.job);
  if (!name) return tl::unexpected<base::Error>(name.error());
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  auto picture = take_picture((*session)->client(), {(*session)->ns(), *name}, context.stop);
  if (!picture) return tl::unexpected<base::Error>(picture.error());
  auto follow_as = follow_options(options, picture->job, (*session)->clock());
  if (!follow_as) return tl::unexpected<base::Error>(follow_as.error());
  if (follow_as->wanted.max_streams > kMaxStreams) allow_many_files();

  ScreenWriter screen(context.out, context.err,
                      style(options, picture->job, follow_as->wanted.ranks.size(), context.terminal.colour),
                      std::move(filter), !options.raw && (options.follow || options.all_attempts));
  const auto end = follow(**session, std::move(*picture), std::move(*follow_as), screen, context.stop);
  if (!end) return tl::unexpected<base::Error>(end.error());
  return exit_code_of(*end, options, *name, context);
}

}  // namespace gpupool::logs
