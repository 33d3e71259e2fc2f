#include "runtime/watch/watcher.h"

#include <algorithm>

namespace gpupool::runtime {

namespace {

using base::ErrorCode;

// client-go: tools/pager, tools/cache/reflector.go.
constexpr std::int64_t kPageSize = 500;
constexpr std::uint64_t kMinTimeoutSeconds = 300;
constexpr base::Duration kVeryShortWatch = std::chrono::seconds(1);

constexpr base::Backoff::Limits kBackoff{.initial = std::chrono::milliseconds(800),
                                         .factor = 2.0,
                                         .cap = std::chrono::seconds(30),
                                         .jitter = 1.0,
                                         .reset_after = std::chrono::minutes(2)};

bool version_unavailable(ErrorCode code) {
  return code == ErrorCode::kExpired || code == ErrorCode::kTooLargeVersion;
}

// The version in hand is still good: only the connection or the server's mood was not.
bool can_resume(ErrorCode code) {
  return code == ErrorCode::kTransport || code == ErrorCode::kTimeout || code == ErrorCode::kTooManyRequests;
}

}  // namespace

Watcher::Watcher(base::Clock& clock, std::uint64_t seed)
    : clock_(clock), backoff_(kBackoff, seed), random_(seed) {}

Watcher::Action Watcher::next() {
  switch (state_) {
    case State::kList:
      return next_list();
    case State::kWatch:
      return next_watch();
    case State::kWaitThenList:
    case State::kWaitThenWatch:
      break;
  }
  return DoWait{delay_};
}

Watcher::DoList Watcher::next_list() {
  // The server refuses a version beside a continue token, which carries its own.
  if (!continue_token_.empty()) return {"", kPageSize, continue_token_, false};
  ++lists_;
  const std::string& version = wanted_version();
  // Without a version the list comes from etcd; any other comes from the server's memory, which has no pages.
  return {version, version.empty() && !full_list_ ? kPageSize : 0, "", true};
}

Watcher::DoWatch Watcher::next_watch() {
  if (watches_++ > 0) ++restarts_;
  watch_began_ = clock_.now();
  events_ = 0;
  stream_error_.reset();
  const auto extra = random_() % (kMinTimeoutSeconds + 1);
  return {resource_version_, std::chrono::seconds(kMinTimeoutSeconds + extra)};
}

const std::string& Watcher::wanted_version() const {
  static const std::string none;
  return quorum_list_ ? none : resource_version_;
}

bool Watcher::on_page(const std::string& list_resource_version, const std::string& continue_token) {
  if (continue_token_.empty()) list_version_ = list_resource_version;
  continue_token_ = continue_token;
  if (!continue_token_.empty()) return false;
  full_list_ = false;
  if (list_version_.empty() || list_version_ == "0") {
    // Nothing to watch from: a watch without a version would miss deletions.
    wait_then(State::kWaitThenList);
    return true;
  }
  quorum_list_ = false;
  resource_version_ = list_version_;
  state_ = State::kWatch;
  return true;
}

void Watcher::on_list_error(const base::Error& error) {
  const bool later_page = !continue_token_.empty();
  continue_token_.clear();
  if (later_page && error.code == ErrorCode::kExpired) {
    full_list_ = true;
    return;
  }
  full_list_ = false;
  if (version_unavailable(error.code) && !later_page && !quorum_list_) {
    quorum_list_ = true;
    return;
  }
  wait_then(State::kWaitThenList, error.retry_after);
}

void Watcher::on_event(std::string_view /*type*/, const std::string& resource_version) {
  ++events_;
  if (!resource_version.empty()) resource_version_ = resource_version;
}

void Watcher::on_error_event(const base::Error& error) { stream_error_ = error; }

void Watcher::on_watch_end(const std::optional<base::Error>& error) {
  const auto& cause = stream_error_ ? stream_error_ : error;
  if (!cause) {
    const bool very_short = events_ == 0 && clock_.now() - watch_began_ < kVeryShortWatch;
    if (very_short) wait_then(State::kWaitThenList);
    return;
  }
  if (can_resume(cause->code)) return wait_then(State::kWaitThenWatch, cause->retry_after);
  // A list "not older than" an expired version is fine; one that the server has not reached yet is not.
  if (cause->code == ErrorCode::kTooLargeVersion) quorum_list_ = true;
  wait_then(State::kWaitThenList, cause->retry_after);
}

void Watcher::on_waited() { state_ = state_ == State::kWaitThenWatch ? State::kWatch : State::kList; }

void Watcher::wait_then(State state, const std::optional<std::chrono::milliseconds>& at_least) {
  state_ = state;
  delay_ = backoff_.next(clock_.now());
  if (at_least) delay_ = std::max<base::Duration>(delay_, *at_least);
}

}  // namespace gpupool::runtime
