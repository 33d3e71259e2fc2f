// SPDX-License-Identifier: Apache-2.0
#include "command/keep_trying.h"

#include <utility>

#include "base/backoff.h"
#include "screen/plain_text.h"

namespace gpupool::command {
namespace {

using base::ErrorCode;

// The server may be another one soon; everything else stays as it is.
bool passes(const base::Error& error) {
  switch (error.code) {
    case ErrorCode::kTransport:
    case ErrorCode::kTimeout:
    case ErrorCode::kServer:
    case ErrorCode::kTooManyRequests:
    case ErrorCode::kTooLargeVersion:
    case ErrorCode::kExpired:
    case ErrorCode::kParse:  // an answer that was cut
      return true;
    default:
      return false;
  }
}

}  // namespace

base::Result<void> keep_trying(base::Clock& clock, const Once& once, const OnAway& on_away,
                               const std::stop_token& stop) {
  using std::chrono::seconds;
  base::Backoff backoff(
      {.initial = seconds(1), .cap = seconds(10), .jitter = 0.5, .reset_after = seconds(60)}, 1);
  bool away = false;
  const auto answered = [&] {
    if (std::exchange(away, false)) on_away("");
  };
  while (true) {
    const auto end = once(answered);
    if (stop.stop_requested()) return base::fail(ErrorCode::kCancelled, "stopped");
    if (end && *end) return {};
    if (end) continue;
    if (!passes(end.error())) return tl::unexpected<base::Error>(end.error());
    if (!std::exchange(away, true)) on_away(end.error().message);
    if (!clock.sleep_for(backoff.next(clock.now()), stop))
      return base::fail(ErrorCode::kCancelled, "stopped");
  }
}

OnAway tell_away(std::ostream& err) {
  return [&err](const std::string& why) {
    err << (why.empty() ? "the API server is back"
                        : "the API server cannot be reached, trying on: " + screen::plain_text(why))
        << std::endl;
  };
}

}  // namespace gpupool::command
