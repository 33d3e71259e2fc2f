// SPDX-License-Identifier: Apache-2.0
#include "runtime/watch/watcher.h"

#include <algorithm>
#include <utility>

namespace gpupool::runtime {

namespace {

using base::ErrorCode;

// The numbers of client-go's tools/cache/reflector.go.
constexpr std::uint64_t kMinTimeoutSeconds = 300;
constexpr base::Duration kVeryShortWatch = std::chrono::seconds(1);

// Shorter than kBackoff: a server that is away has no load to be spared, and the caches are old until the
// next try after its return.
constexpr base::Backoff::Limits kAwayBackoff{.initial = std::chrono::milliseconds(800),
                                             .factor = 2.0,
                                             .cap = std::chrono::seconds(3),
                                             .jitter = 1.0,
                                             .reset_after = std::chrono::minutes(2)};
constexpr base::Backoff::Limits kBackoff{.initial = std::chrono::milliseconds(800),
                                         .factor = 2.0,
                                         .cap = std::chrono::seconds(30),
                                         .jitter = 1.0,
                                         .reset_after = std::chrono::minutes(2)};

bool version_unavailable(ErrorCode code) {
  return code == ErrorCode::kExpired || code == ErrorCode::kTooLargeVersion;
}

bool is_lost(ErrorCode code) { return code == ErrorCode::kTransport || code == ErrorCode::kTimeout; }

// Resource versions are ordered integers (KEP-5504).
bool is_older(std::string_view version, std::string_view than) {
  return version.size() != than.size() ? version.size() < than.size() : version < than;
}

}  // namespace

Watcher::Watcher(base::Clock& clock, std::uint64_t seed)
    : clock_(clock), backoff_(kBackoff, seed), away_backoff_(kAwayBackoff, seed), random_(seed) {}

Watcher::Action Watcher::next() {
  switch (state_) {
    case State::kList:
      return next_list();
    case State::kWatch:
      return next_watch();
    case State::kProbe:
      return DoProbe{};
    case State::kWaitThenList:
    case State::kWaitThenWatch:
    case State::kWaitThenProbe:
      break;
  }
  return DoWait{delay_};
}

Watcher::DoList Watcher::next_list() {
  ++lists_;
  return {quorum_list_ ? "" : resource_version_};
}

Watcher::DoWatch Watcher::next_watch() {
  if (watches_++ > 0) ++restarts_;
  watch_began_ = clock_.now();
  events_ = 0;
  stream_error_.reset();
  const auto extra = random_() % (kMinTimeoutSeconds + 1);
  return {resource_version_, std::chrono::seconds(kMinTimeoutSeconds + extra)};
}

void Watcher::on_listed(const std::string& list_resource_version) {
  if (list_resource_version.empty() || list_resource_version == "0") {
    // A watch without a version would miss deletions.
    return wait_then(State::kWaitThenList, std::nullopt);
  }
  quorum_list_ = false;
  went_back_ = is_older(list_resource_version, resource_version_);
  lost_ = false;
  resource_version_ = list_resource_version;
  state_ = State::kWatch;
}

void Watcher::on_list_error(const base::Error& error) {
  if (!version_unavailable(error.code) || quorum_list_) return wait_then(State::kWaitThenList, error);
  quorum_list_ = true;
}

void Watcher::on_probe(const std::string& resource_version) {
  quorum_list_ = is_older(resource_version, resource_version_);
  state_ = quorum_list_ ? State::kList : State::kWatch;
}

void Watcher::on_probe_error(const base::Error& error) { wait_then(State::kWaitThenList, error); }

void Watcher::on_event(std::string_view /*type*/, const std::string& resource_version) {
  ++events_;
  lost_ = false;
  if (!resource_version.empty()) resource_version_ = resource_version;
}

void Watcher::on_error_event(const base::Error& error) { stream_error_ = error; }

void Watcher::on_watch_end(const std::optional<base::Error>& error) {
  const auto& cause = stream_error_ ? stream_error_ : error;
  if (!cause) {
    const bool very_short = events_ == 0 && clock_.now() - watch_began_ < kVeryShortWatch;
    if (very_short) wait_then(State::kWaitThenList, std::nullopt);
    return;
  }
  // The last version is still usable; only the connection was lost or the server was busy.
  if (cause->code == ErrorCode::kTooManyRequests) return wait_then(State::kWaitThenWatch, cause);
  if (is_lost(cause->code) && !std::exchange(lost_, true)) return wait_then(State::kWaitThenProbe, cause);
  // A list "not older than" an expired version works; one "not older than" a version that the server has not
  // reached does not.
  if (cause->code == ErrorCode::kTooLargeVersion) quorum_list_ = true;
  wait_then(State::kWaitThenList, cause);
}

void Watcher::on_waited() {
  state_ = state_ == State::kWaitThenWatch   ? State::kWatch
           : state_ == State::kWaitThenProbe ? State::kProbe
                                             : State::kList;
}

void Watcher::wait_then(State state, const std::optional<base::Error>& cause) {
  state_ = state;
  const bool away = cause && cause->http_status == 0 && is_lost(cause->code);
  delay_ = (away ? away_backoff_ : backoff_).next(clock_.now());
  if (cause && cause->retry_after) delay_ = std::max<base::Duration>(delay_, *cause->retry_after);
}

}  // namespace gpupool::runtime
