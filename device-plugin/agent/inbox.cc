#include "agent/inbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpupool::agent {

void Inbox::add(std::vector<inventory::XidEvent> xids) {
  if (xids.empty()) return;
  const std::lock_guard lock(mutex_);
  std::move(xids.begin(), xids.end(), std::back_inserter(mail_.xids));
  changed_.notify_all();
}

void Inbox::ask_reload() {
  const std::lock_guard lock(mutex_);
  mail_.reload = true;
  changed_.notify_all();
}

void Inbox::look_soon(base::SteadyTime when) {
  const std::lock_guard lock(mutex_);
  if (soon_) return;
  soon_ = when;
  changed_.notify_all();
}

Inbox::Mail Inbox::wait(base::Clock& clock, base::SteadyTime tick, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto any = [this] { return mail_.reload || !mail_.xids.empty(); };
  while (!any() && !stop.stop_requested()) {
    const bool knew_soon = soon_.has_value();
    const auto until = knew_soon ? std::min(*soon_, tick) : tick;
    if (clock.now() >= until) break;
    clock.wait(lock, changed_, stop, until, [&] { return any() || soon_.has_value() != knew_soon; });
  }
  if (soon_ && clock.now() >= *soon_) soon_.reset();
  return std::exchange(mail_, {});
}

}  // namespace gpupool::agent
