// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resource_plugin.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "kubelet/messages.h"
#include "kubelet/names.h"
#include "kubelet/register_call.h"

namespace gpupool::kubelet {

namespace {

constexpr auto kLockAgain = std::chrono::milliseconds(500);
constexpr auto kServeAgain = std::chrono::seconds(1);
constexpr auto kDisplacedAgain = std::chrono::seconds(10);
constexpr int kLostUntilDisplaced = 4;

}  // namespace

ResourcePlugin::ResourcePlugin(std::string directory, std::string resource, const PluginContext& context,
                               PodResources& pods, base::Clock& clock)
    : directory_(std::move(directory)),
      resource_(std::move(resource)),
      endpoint_(file_stem(resource_) + ".sock"),
      context_(context),
      pods_(pods),
      clock_(clock),
      log_(context.log.with({{"resource", resource_}})),
      watch_(directory_, log_),
      state_(std::random_device{}()) {}

void ResourcePlugin::run(std::stop_token stop) {
  while (!stop.stop_requested()) watch_.wait(step(stop), stop);
  server_.reset();
  lock_.reset();
}

ResourcePlugin::Status ResourcePlugin::status() const {
  const base::MutexLock lock(status_mutex_);
  return status_;
}

void ResourcePlugin::set_status(Phase phase, std::string detail) {
  Status next{phase, std::move(detail)};
  {
    const base::MutexLock lock(status_mutex_);
    if (status_ == next) return;
    status_ = next;
  }
  context_.metrics
      .gauge("gpupool_plugin_registered", "Whether the kubelet has this resource of us.",
             {{"resource", resource_}})
      .set(phase == Phase::kRegistered ? 1 : 0);
  if (phase == Phase::kRegistered) {
    log_.info("Registered with the kubelet");
  } else {
    log_.warning("Not registered with the kubelet", {{"why", next.detail}});
  }
}

base::Duration ResourcePlugin::step(const std::stop_token& stop) {
  if (!lock_held()) return kLockAgain;
  if (!serving()) return kServeAgain;
  const auto streams = server_->streams();
  const auto kubelet = base::identify(directory_ + "/" + kKubeletSocket);
  const auto next = state_.next({kubelet, streams.opened, streams.open}, clock_.now());
  if (next.register_now) return register_with_kubelet(stop);
  if (state_.registered()) {
    set_status(Phase::kRegistered);
  } else if (!kubelet.exists()) {
    set_status(Phase::kNoKubelet, "there is no " + std::string(kKubeletSocket) + " in " + directory_);
  } else if (state_.lost_in_a_row() >= kLostUntilDisplaced) {
    set_status(
        Phase::kDisplaced,
        "the kubelet drops this plugin again and again: another one registers for " + resource_ + ", too");
  }
  return next.look_again;
}

bool ResourcePlugin::lock_held() {
  if (lock_ && lock_->in_place()) return true;
  server_.reset();
  lock_.reset();
  auto taken = ResourceLock::try_take(directory_ + "/" + file_stem(resource_) + ".lock");
  if (!taken) {
    set_status(Phase::kStarting, taken.error().message);
    return false;
  }
  if (!*taken) {
    set_status(Phase::kOtherPlugin, "another gpupool-device-plugin on this node serves " + resource_ +
                                        "; this one takes over when it ends");
    return false;
  }
  lock_ = std::move(**taken);
  return true;
}

bool ResourcePlugin::serving() {
  if (server_ && !server_->in_place()) {
    log_.warning("The plugin's socket was removed, serving anew");
    server_.reset();
  }
  if (server_) return true;
  auto started =
      PluginServer::start(context_, resource_, directory_ + "/" + endpoint_, [this] { watch_.wake(); });
  if (!started) {
    set_status(Phase::kStarting, started.error().message);
    return false;
  }
  server_ = std::move(*started);
  state_.serving_anew();
  return true;
}

base::Duration ResourcePlugin::register_with_kubelet(const std::stop_token& stop) {
  if (state_.lost_in_a_row() > 0 && another_has_it(stop)) {
    set_status(Phase::kDisplaced, "the kubelet lists devices of another plugin for " + resource_ +
                                      "; this one waits until they are gone");
    return kDisplacedAgain;
  }
  // A server that had a stream already must be gone entirely: see RegistrationState.
  if (server_->streams().opened > 0) {
    server_.reset();
    if (!serving()) return kServeAgain;
  }
  const auto result = register_plugin(directory_ + "/" + kKubeletSocket, endpoint_, resource_, stop);
  const auto nobody = [](const base::Error& error) { return error.code != base::ErrorCode::kInvalid; };
  state_.answered(result                   ? RegistrationState::Answer::kAccepted
                  : nobody(result.error()) ? RegistrationState::Answer::kNobody
                                           : RegistrationState::Answer::kRefused,
                  clock_.now());
  context_.metrics
      .counter(
          "gpupool_plugin_registrations_total", "Registrations with the kubelet.",
          {{"resource", resource_}, {"result", result ? "accepted" : base::to_string(result.error().code)}})
      .increment();
  if (result) {
    set_status(Phase::kRegistered);
  } else if (!stop.stop_requested()) {
    set_status(nobody(result.error()) ? Phase::kNoKubelet : Phase::kRefused, result.error().message);
  }
  return {};
}

bool ResourcePlugin::another_has_it(const std::stop_token& stop) {
  const auto listed = pods_.allocatable(resource_, stop);
  if (!listed) return false;  // an old kubelet does not tell; the back-off keeps us from fighting
  const auto table = context_.latest_table.current().table;
  const auto* const resource = find_resource(*table, resource_);
  std::set<std::string> ours;
  if (resource) {
    for (const auto& slice : resource->slices) ours.insert(slice.id);
  }
  return std::any_of(listed->begin(), listed->end(), [&](const auto& id) { return !ours.contains(id); });
}

}  // namespace gpupool::kubelet
