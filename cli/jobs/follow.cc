// SPDX-License-Identifier: Apache-2.0
#include "jobs/follow.h"

#include <array>
#include <utility>

#include "base/json.h"
#include "command/keep_trying.h"

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

tl::unexpected<base::Error> gone(const std::string& name, const char* how) {
  return base::fail(ErrorCode::kNotFound, "gpujob.gpupool.dev \"" + name + "\" " + how);
}

class Following {
 public:
  Following(command::Session& session, const api::ObjectKey& key, std::string uid, const OnState& on_state)
      : session_(session), key_(key), uid_(std::move(uid)), on_state_(on_state) {}

  // One read and one watch. True if the end was reached.
  base::Result<bool> once(const std::function<void()>& answered, const std::stop_token& stop) {
    auto job = kube::get<api::GpuJob>(session_.client(), key_, stop);
    if (!job) return tl::unexpected<base::Error>(job.error());
    answered();
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
                              const OnState& on_state, const command::OnAway& on_away,
                              const std::stop_token& stop) {
  Following following(session, key, std::move(uid), on_state);
  return command::keep_trying(
      session.clock(), [&](const auto& answered) { return following.once(answered, stop); }, on_away, stop);
}

}  // namespace gpupool::jobs
