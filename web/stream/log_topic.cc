// SPDX-License-Identifier: Apache-2.0
#include "stream/log_topic.h"

#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "stream/messages.h"
#include "stream/topic_loop.h"
#include "worker_logs/job_watch.h"
#include "worker_logs/kept_choice.h"
#include "worker_logs/log_follower.h"
#include "worker_logs/show_kept.h"

namespace gpupool::web {
namespace {

constexpr std::int64_t kMostStreams = 200;

// Lines of one tab's log, in messages. For one thread.
class TabOutput final : public logs::LogOutput {
 public:
  TabOutput(const Topic& topic, Outbox& outbox, const std::stop_token& stop)
      : topic_(topic), outbox_(outbox), stop_(stop) {}

  void line(std::int64_t rank, const logs::LogLine& line) override {
    std::string text = line.text;
    if (line.cut > 0) text += " ...[" + std::to_string(line.cut) + " bytes]";
    bytes_ += text.size();
    const auto time =
        std::chrono::duration_cast<std::chrono::milliseconds>(line.time.time_since_epoch()).count();
    kept_.push_back({ranks_ ? rank : -1, time, std::move(text)});
    if (bytes_ >= kBytesOfMessage) flush();
  }
  void note(const std::string& text) override { tell(text, false); }
  void problem(const std::string& text) override { tell(text, true); }
  void left_out(std::int64_t ranks, std::int64_t limit) override {
    tell(std::to_string(ranks) + " ranks are not shown: at most " + std::to_string(limit) +
             " logs are read at once; choose ranks",
         true);
  }
  void without_ranks() override {
    flush();
    ranks_ = false;
  }
  bool flush() override {
    if (kept_.empty()) return good_;
    std::vector<ShownLine> lines;
    lines.reserve(kept_.size());
    for (const Kept& kept : kept_) lines.push_back({kept.rank, kept.unix_ms, kept.text});
    push(lines_message(topic_.id, lines));
    kept_.clear();
    bytes_ = 0;
    return good_;
  }

 private:
  static constexpr std::size_t kBytesOfMessage = std::size_t{128} << 10;
  struct Kept {
    std::int64_t rank;
    std::int64_t unix_ms;
    std::string text;
  };

  void tell(const std::string& text, bool problem) {
    flush();
    push(note_message(topic_.id, text, problem));
  }
  void push(const std::string& message) { good_ = good_ && outbox_.push(message, stop_); }

  const Topic& topic_;
  Outbox& outbox_;
  const std::stop_token& stop_;
  std::vector<Kept> kept_;
  std::size_t bytes_ = 0;
  bool ranks_ = true;
  bool good_ = true;
};

base::Result<logs::FollowOptions> follow_options(const Topic& topic, std::int64_t workers) {
  logs::FollowOptions options{.follow = true, .tail_lines = topic.tail};
  if (topic.ranks.empty()) {
    options.wanted.ranks.resize(static_cast<std::size_t>(workers));
    std::iota(options.wanted.ranks.begin(), options.wanted.ranks.end(), 0);
  } else {
    auto ranks = logs::parse_ranks(topic.ranks, workers - 1);
    if (!ranks) return tl::unexpected<base::Error>(ranks.error());
    options.wanted.ranks = std::move(*ranks);
  }
  options.wanted.attempt = topic.attempt;
  options.wanted.max_streams = kMostStreams;
  return options;
}

// Shows what the keeper has of an attempt whose pods are gone. False: it has nothing, or did not answer.
base::Result<bool> show_stored(const logs::KeptLogs& kept, const logs::Picture& picture,
                               const logs::FollowOptions& options, TabOutput& output, base::Clock& clock,
                               const std::stop_token& stop) {
  const auto& metadata = picture.job.metadata;
  const auto stored = kept.attempts(metadata.ns, "", metadata.uid, stop);
  if (!stored) {
    output.problem("pods of the job are gone, and no keeper of logs has answered: " + stored.error().message);
    return false;
  }
  const auto chosen = logs::choose_kept(*stored, logs::attempts_of(picture), options.wanted);
  for (const logs::KeptAttempt& attempt : chosen) {
    const auto shown = logs::show_kept(kept, metadata.ns, attempt, options, output, clock, stop);
    if (!shown) return tl::unexpected<base::Error>(shown.error());
  }
  return !chosen.empty();
}

base::Result<void> log_once(kube::Client& client, const logs::KeptLogs* kept, const Topic& topic,
                            Outbox& outbox, base::Clock& clock, const std::stop_token& stop) {
  // The watches below try for ever; this says at once what the visitor may not read.
  auto picture = logs::take_picture(client, {topic.ns, topic.name}, stop);
  if (!picture) return tl::unexpected<base::Error>(picture.error());
  auto options = follow_options(topic, api::worker_count(picture->job.spec));
  if (!options) return tl::unexpected<base::Error>(options.error());
  if (!outbox.push(log_begin_message(topic.id), stop)) return {};
  TabOutput output(topic, outbox, stop);
  if (kept != nullptr && logs::needs_keeper(picture->job, logs::attempts_of(*picture), options->wanted)) {
    const auto stored = show_stored(*kept, *picture, *options, output, clock, stop);
    if (!stored) return tl::unexpected<base::Error>(stored.error());
    if (*stored && (topic.attempt || picture->job.finished())) {
      outbox.push(log_end_message(topic.id), stop);
      return {};
    }
  }
  logs::LogFollower follower(
      std::move(*options),
      [&client](const api::ObjectKey& pod, const kube::LogOptions& asked,
                const std::function<bool(std::string_view)>& on_piece,
                std::stop_token stopped) { return client.pod_log(pod, asked, on_piece, std::move(stopped)); },
      output, clock);
  picture->pods.clear();  // see JobWatch
  follower.update(*picture);
  const logs::JobWatch watch(client, clock, std::move(picture->job),
                             [&follower](logs::Picture newest) { follower.update(std::move(newest)); });
  const auto end = follower.run(stop);
  if (!end) return tl::unexpected<base::Error>(end.error());
  outbox.push(log_end_message(topic.id), stop);
  return {};
}

}  // namespace

void run_log_topic(kube::Client& client, const logs::KeptLogs* kept, const Topic& topic, Outbox& outbox,
                   base::Clock& clock, const std::stop_token& stop) {
  bool ended = false;
  repeat(
      topic, outbox, clock,
      [&]() -> base::Result<void> {
        if (ended) {  // nothing more comes
          clock.sleep_for(std::chrono::hours(24), stop);
          return {};
        }
        auto done = log_once(client, kept, topic, outbox, clock, stop);
        ended = done.has_value();
        return done;
      },
      stop);
}

}  // namespace gpupool::web
