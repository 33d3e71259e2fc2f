// SPDX-License-Identifier: Apache-2.0
#include "logs/show_logs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/open_files.h"
#include "command/exit_code.h"
#include "command/keeper.h"
#include "jobs/outcome.h"
#include "objects/job.h"
#include "screen/plain_text.h"
#include "worker_logs/job_watch.h"
#include "worker_logs/kept_choice.h"
#include "worker_logs/log_follower.h"
#include "worker_logs/show_kept.h"

namespace gpupool::logs {
namespace {

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
  if (auto ok = refuse(options.follow && (options.stored || !options.uid.empty()),
                       "--stored and --uid show what is stored, and cannot be used with --follow");
      !ok) {
    return ok;
  }
  return refuse(options.exit && !options.follow, "--exit needs --follow");
}

// workers: of the job, or of the attempt.
base::Result<FollowOptions> follow_options(const ShowOptions& options, std::int64_t workers,
                                           base::Clock& clock) {
  FollowOptions follow{.follow = options.follow, .raw = options.raw, .tail_lines = options.tail};
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

ScreenWriter screen_for(const ShowOptions& options, std::int64_t workers, std::size_t ranks,
                        std::optional<LineFilter> filter, command::Context& context) {
  const TextStyle style{.ranks = workers > 1 && ranks != 1,
                        .rank_width = static_cast<int>(std::to_string(workers - 1).size()),
                        .timestamps = options.timestamps,
                        .colours = !options.raw && context.terminal.colour,
                        .raw = options.raw};
  return {context.out, context.err, style, std::move(filter),
          !options.raw && (options.follow || options.all_attempts || !options.uid.empty())};
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

// Shows attempts one after the other. False: of some, not everything could be shown.
base::Result<bool> show_each(const KeptLogs& keeper, const std::string& ns,
                             const std::vector<KeptAttempt>& attempts, const FollowOptions& options,
                             ScreenWriter& screen, command::Session& session, const std::stop_token& stop) {
  bool complete = true;
  for (const KeptAttempt& attempt : attempts) {
    const auto shown = show_kept(keeper, ns, attempt, options, screen, session.clock(), stop);
    if (!shown) return shown;
    complete = complete && *shown;
  }
  return complete;
}

// Of a job that is not there any more: all comes from the keeper.
base::Result<int> show_gone(const ShowOptions& options, const std::string& job,
                            std::optional<LineFilter> filter, command::Context& context) {
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  const std::string& ns = (*session)->ns();
  const std::string missing =
      "there is no GpuJob " + job + (options.uid.empty() ? "" : " with this UID") + " in namespace " + ns;
  const auto keeper = command::find_keeper(options.keeper, context);
  if (!keeper) return tl::unexpected<base::Error>(keeper.error());
  auto kept = keeper->attempts(ns, job, options.uid, context.stop);
  if (!kept) return tl::unexpected<base::Error>(command::keeper_problem(kept.error(), missing));
  // Several jobs may have had the name; the newest one counts.
  if (!kept->empty())
    std::erase_if(*kept, [uid = kept->front().uid](const auto& one) { return one.uid != uid; });
  Wanted wanted{.attempt = options.attempt, .all_attempts = options.all_attempts};
  const auto chosen = choose_kept(*kept, {}, wanted);
  if (chosen.empty())
    return base::fail(base::ErrorCode::kNotFound, missing + ", and the keeper of logs has nothing of it" +
                                                      (options.attempt ? " and this attempt" : ""));
  std::int64_t workers = 1;
  for (const KeptAttempt& attempt : chosen) workers = std::max(workers, attempt.ranks);
  const auto shown_as = follow_options(options, workers, (*session)->clock());
  if (!shown_as) return tl::unexpected<base::Error>(shown_as.error());
  ScreenWriter screen =
      screen_for(options, workers, shown_as->wanted.ranks.size(), std::move(filter), context);
  if (!options.raw) screen.problem(missing + "; these lines are from the keeper of logs");
  const auto complete = show_each(*keeper, ns, chosen, *shown_as, screen, **session, context.stop);
  if (!complete) return tl::unexpected<base::Error>(complete.error());
  return *complete ? command::exit_code::kGood : command::exit_code::kError;
}

enum class Earlier {
  kNothing,  // all that is wanted is at the pods
  kPart,     // some could not be shown
  kSome,     // what has no pods was shown
  kAll,      // and nothing else is wanted
};

// Shows what is wanted of a job and has no pods.
base::Result<Earlier> show_earlier(const ShowOptions& options, const api::GpuJob& job,
                                   const std::map<std::int64_t, Attempt>& attempts,
                                   const FollowOptions& shown_as, ScreenWriter& screen,
                                   command::Context& context) {
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  const auto& metadata = job.metadata;
  const auto keeper = command::find_keeper(options.keeper, context);
  if (!keeper) return tl::unexpected<base::Error>(keeper.error());
  const auto kept = keeper->attempts(metadata.ns, "", metadata.uid, context.stop);
  if (!kept) {
    const base::Error problem = command::keeper_problem(
        kept.error(), options.attempt
                          ? "the pods of attempt " + std::to_string(*options.attempt) + " are gone"
                          : "pods of the job are gone");
    if (options.attempt || options.stored) return tl::unexpected<base::Error>(problem);
    screen.problem(problem.message);
    return options.all_attempts ? Earlier::kPart : Earlier::kNothing;
  }
  const auto chosen = choose_kept(*kept, attempts, shown_as.wanted);
  if (chosen.empty()) return Earlier::kNothing;
  const auto complete = show_each(*keeper, metadata.ns, chosen, shown_as, screen, **session, context.stop);
  if (!complete) return tl::unexpected<base::Error>(complete.error());
  if (!*complete) return Earlier::kPart;
  const bool more = !attempts.empty() && !options.attempt;
  return more || (options.follow && !job.finished()) ? Earlier::kSome : Earlier::kAll;
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
  auto picture = options.uid.empty()
                     ? take_picture((*session)->client(), {(*session)->ns(), *name}, context.stop)
                     : base::fail(base::ErrorCode::kNotFound, "another job is asked for");
  const bool gone = !picture && picture.error().code == base::ErrorCode::kNotFound;
  if (!picture && !gone) return tl::unexpected<base::Error>(picture.error());
  if (gone) return show_gone(options, *name, std::move(filter), context);

  const auto workers = api::worker_count(picture->job.spec);
  auto follow_as = follow_options(options, workers, (*session)->clock());
  if (!follow_as) return tl::unexpected<base::Error>(follow_as.error());
  if (follow_as->wanted.max_streams > kMaxStreams) base::allow_many_open_files();
  ScreenWriter screen =
      screen_for(options, workers, follow_as->wanted.ranks.size(), std::move(filter), context);
  const auto attempts = options.stored ? std::map<std::int64_t, Attempt>() : attempts_of(*picture);
  bool complete = true;
  if (options.stored && picture->job.status.attempts == 0)
    return base::fail(base::ErrorCode::kNotFound, *name + " has no logs yet: no attempt has begun");
  if (needs_keeper(picture->job, attempts, follow_as->wanted)) {
    const auto shown = show_earlier(options, picture->job, attempts, *follow_as, screen, context);
    if (!shown) return tl::unexpected<base::Error>(shown.error());
    if (*shown == Earlier::kAll) return command::exit_code::kGood;
    if (options.stored)
      return *shown == Earlier::kNothing
                 ? base::fail(base::ErrorCode::kNotFound, "the keeper of logs has nothing of " + *name)
                 : base::Result<int>(command::exit_code::kError);
    complete = *shown != Earlier::kPart;
  }
  const auto end = follow(**session, std::move(*picture), std::move(*follow_as), screen, context.stop);
  if (!end) return tl::unexpected<base::Error>(end.error());
  const auto code = exit_code_of(*end, options, *name, context);
  return code && *code == command::exit_code::kGood && !complete ? command::exit_code::kError : code;
}

}  // namespace gpupool::logs
