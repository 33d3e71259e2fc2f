// SPDX-License-Identifier: Apache-2.0
#include "jobs/follow.h"

#include <array>
#include <utility>

#include "base/backoff.h"
#include "base/json.h"

namespace gpupool::jobs {

struct JobEvent {
  std::string type;
  api::GpuJob object;
};

}  // namespace gpupool::jobs

template <>
struct gpupool::base::json::Schema<gpupool::jobs::JobEvent> {
  using T = jobs::JobEvent;
  static constexpr auto fields = std::array{field<&T::type>("type"), field<&T::object>("object")};
};

namespace gpupool::jobs {
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

tl::unexpected<base::Error> gone(const std::string& name, const char* how) {
  return base::fail(ErrorCode::kNotFound, "gpujob.gpupool.dev \"" + name + "\" " + how);
}

class Following {
 public:
  Following(command::Session& session, const api::ObjectKey& key, std::string uid, const OnState& on_state)
      : session_(session), key_(key), uid_(std::move(uid)), on_state_(on_state) {}

  // One read and one watch. True if the end was reached.
  base::Result<bool> once(const std::stop_token& stop) {
    auto job = kube::get<api::GpuJob>(session_.client(), key_, stop);
    if (!job) return tl::unexpected<base::Error>(job.error());
    if (auto goes_on = take(*job); !goes_on || !*goes_on) return ended(goes_on);
    base::Result<bool> goes_on = true;
    const auto on_line = [&](std::string_view line) {
      const auto event = base::json::read<JobEvent>(line);
      if (!event) {
        goes_on = tl::unexpected<base::Error>(event.error());
      } else if (event->type == "DELETED") {
        goes_on = gone(key_.name, "was deleted");
      } else if (event->type == "ERROR") {
        return false;  // the version is too old: read again
      } else if (event->type != "BOOKMARK") {
        goes_on = take(event->object);
      }
      return goes_on && *goes_on;
    };
    const auto watched = session_.client().watch(
        api::GpuJob::kType, key_.ns,
        {.field_selector = "metadata.name=" + key_.name, .resource_version = job->metadata.resource_version},
        on_line, stop);
    if (!goes_on || !*goes_on) return ended(goes_on);
    if (!watched) return tl::unexpected<base::Error>(watched.error());
    return false;
  }

 private:
  static base::Result<bool> ended(const base::Result<bool>& goes_on) {
    if (!goes_on) return tl::unexpected<base::Error>(goes_on.error());
    return true;
  }

  base::Result<bool> take(const api::GpuJob& job) {
    if (uid_.empty()) uid_ = job.metadata.uid;
    if (job.metadata.uid != uid_)
      return gone(key_.name, "was deleted; there is another one of this name now");
    return on_state_(job);
  }

  command::Session& session_;
  const api::ObjectKey& key_;
  std::string uid_;
  const OnState& on_state_;
};

}  // namespace

base::Result<void> follow_job(command::Session& session, const api::ObjectKey& key, std::string uid,
                              const OnState& on_state, const OnAway& on_away, const std::stop_token& stop) {
  using std::chrono::seconds;
  base::Backoff backoff(
      {.initial = seconds(1), .cap = seconds(10), .jitter = 0.5, .reset_after = seconds(60)}, 1);
  bool away = false;
  const OnState noting = [&](const api::GpuJob& job) {
    if (std::exchange(away, false)) on_away("");
    return on_state(job);
  };
  Following following(session, key, std::move(uid), noting);
  while (true) {
    const auto end = following.once(stop);
    if (stop.stop_requested()) return base::fail(ErrorCode::kCancelled, "stopped");
    if (end && *end) return {};
    if (end) continue;
    if (!passes(end.error())) return tl::unexpected<base::Error>(end.error());
    if (!std::exchange(away, true)) on_away(end.error().message);
    if (!session.clock().sleep_for(backoff.next(session.clock().now()), stop)) {
      return base::fail(ErrorCode::kCancelled, "stopped");
    }
  }
}

}  // namespace gpupool::jobs
