// SPDX-License-Identifier: Apache-2.0
#include "agent/inbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpupool::agent {

void Inbox::add(std::vector<inventory::ErrorEvent> errors) {
  if (errors.empty()) return;
  const base::MutexLock lock(mutex_);
  std::move(errors.begin(), errors.end(), std::back_inserter(mail_.errors));
  changed_.notify_all();
}

void Inbox::ask_reload() {
  const base::MutexLock lock(mutex_);
  mail_.reload = true;
  changed_.notify_all();
}

void Inbox::look_soon(base::SteadyTime when) {
  const base::MutexLock lock(mutex_);
  if (soon_) return;
  soon_ = when;
  changed_.notify_all();
}

Inbox::Mail Inbox::wait(base::Clock& clock, base::SteadyTime tick, const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  while (!any_mail() && !stop.stop_requested()) {
    const bool knew_soon = soon_.has_value();
    const auto until = knew_soon ? std::min(*soon_, tick) : tick;
    if (clock.now() >= until) break;
    clock.wait(lock.native(), changed_, stop, until,
               [&]() GPUPOOL_REQUIRES(mutex_) { return any_mail() || soon_.has_value() != knew_soon; });
  }
  if (soon_ && clock.now() >= *soon_) soon_.reset();
  return std::exchange(mail_, {});
}

}  // namespace gpupool::agent
