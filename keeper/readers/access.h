// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kube/client.h"
#include "net/transport.h"
#include "store/attempts.h"

namespace gpupool::keeper {

// A namespace as it is now.
struct NamespaceInfo {
  std::string uid;
  base::WallTime created;  // whole seconds, by the API server's clock
};

// Whether an attempt began in the namespace that now has its name, and not in one that was deleted: by the
// UID that the keeper saw when the attempt began. If the API server did not answer then: by the times; the
// namespace must have been made before the attempt began. Pure.
bool began_in(const NamespaceInfo& ns, const AttemptInfo& attempt);

// Decides who may read. The API server is asked with the reader's own token whether it may `get` gpujobs/log
// in the namespace; the keeper's own rights are to `get` namespaces. Thread-safe.
class Access {
 public:
  // api: without credentials. own: with those of the keeper. REQUIRES: everything referenced outlives this.
  // remembered: for how long an answer counts.
  Access(net::Transport& api, kube::Client& own, std::chrono::seconds remembered, base::Clock& clock,
         base::Metrics& metrics);

  // kUnauthorized, kForbidden (it says which right is missing), or why the API server could not be asked. A
  // yes is remembered, by a hash of the token.
  base::Result<void> may_read(const std::string& token, const std::string& ns, const std::stop_token& stop);

  // kNotFound if there is no such namespace. An answer is remembered.
  base::Result<NamespaceInfo> namespace_info(const std::string& ns, const std::stop_token& stop);

 private:
  base::Result<bool> ask(const std::string& token, const std::string& ns, const std::stop_token& stop);

  net::Transport& api_;
  kube::Client& own_;
  const std::chrono::seconds remembered_;
  base::Clock& clock_;
  base::Metrics& metrics_;
  base::Mutex mutex_;
  std::map<std::string, base::SteadyTime> allowed_ GPUPOOL_GUARDED_BY(mutex_);  // until when
  struct Known {
    NamespaceInfo info;
    base::SteadyTime until;
  };
  std::map<std::string, Known> namespaces_ GPUPOOL_GUARDED_BY(mutex_);
};

// Notes the UIDs of namespaces in which attempts begin, on a thread of its own, and tries again while the API
// server does not answer. Thread-safe.
class NamespaceMarks {
 public:
  // REQUIRES: everything referenced outlives this.
  NamespaceMarks(kube::Client& own, Attempts& attempts, base::Clock& clock, const base::Log& log);

  // Does not block.
  void mark(const AttemptId& id);

 private:
  void run(const std::stop_token& stop);

  kube::Client& own_;
  Attempts& attempts_;
  base::Clock& clock_;
  const base::Log log_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::set<AttemptId> waiting_ GPUPOOL_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the others
};

}  // namespace gpupool::keeper
