// SPDX-License-Identifier: Apache-2.0
#include "readers/namespace_marks.h"

#include <chrono>

namespace gpupool::keeper {
namespace {

constexpr std::size_t kMostWaiting = 4096;
constexpr std::chrono::seconds kBetweenTries{2};

}  // namespace

bool began_in(const readers::NamespaceInfo& ns, const AttemptInfo& attempt) {
  if (!attempt.namespace_uid.empty()) return ns.uid == attempt.namespace_uid;
  return ns.created < attempt.begin;
}

NamespaceMarks::NamespaceMarks(kube::Client& own, Attempts& attempts, base::Clock& clock,
                               const base::Log& log)
    : own_(own), attempts_(attempts), clock_(clock), log_(log), thread_([this](const std::stop_token& stop) {
        run(stop);
      }) {}

void NamespaceMarks::mark(const AttemptId& id) {
  const base::MutexLock lock(mutex_);
  if (waiting_.size() >= kMostWaiting) return;  // the times decide then
  waiting_.insert(id);
  changed_.notify_all();
}

void NamespaceMarks::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::set<AttemptId> ids;
    {
      base::MutexLock lock(mutex_);
      clock_.wait(lock.native(), changed_, stop, std::nullopt,
                  [this]() GPUPOOL_REQUIRES(mutex_) { return !waiting_.empty(); });
      ids = waiting_;
    }
    bool failed = false;
    for (const AttemptId& id : ids) {
      if (stop.stop_requested()) return;
      const auto info = readers::read_namespace(own_, id.ns, stop);
      failed = !info && info.error().code != base::ErrorCode::kNotFound;
      if (failed) {
        log_.warning("a namespace cannot be read", {{"namespace", id.ns}, {"error", info.error().message}});
        break;
      }
      if (info) {
        if (const auto noted = attempts_.set_namespace_uid(id, info->uid); !noted)
          log_.warning("the UID of a namespace cannot be stored", {{"error", noted.error().message}});
      }
      const base::MutexLock lock(mutex_);
      waiting_.erase(id);
    }
    if (failed) clock_.sleep_for(kBetweenTries, stop);
  }
}

}  // namespace gpupool::keeper
