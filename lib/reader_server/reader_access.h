// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kube/access_review.h"
#include "kube/client.h"
#include "net/transport.h"

namespace gpupool::readers {

// A namespace as it is now.
struct NamespaceInfo {
  std::string uid;
  base::WallTime created;  // whole seconds, by the API server's clock
};

// Asks the API server. kNotFound, with HTTP status 404 and for people, if there is no such namespace.
base::Result<NamespaceInfo> read_namespace(kube::Client& client, const std::string& ns,
                                           const std::stop_token& stop);

// Decides who may read. The API server is asked with the reader's own token whether it has a right; the
// program's own rights are to `get` namespaces. Thread-safe.
class ReaderAccess {
 public:
  // api: without credentials. own: with those of the program. REQUIRES: everything referenced outlives this.
  // remembered: for how long an answer counts.
  ReaderAccess(net::Transport& api, kube::Client& own, std::chrono::seconds remembered, base::Clock& clock,
               base::Metrics& metrics);

  // kUnauthorized, kForbidden (it says which right is missing), or why the API server could not be asked. A
  // yes is remembered, by a hash of the token. what: for the message, such as "logs".
  base::Result<void> may_read(const std::string& token, const kube::AccessQuestion& right,
                              const std::string& what, const std::stop_token& stop);

  // As read_namespace(). An answer is remembered.
  base::Result<NamespaceInfo> namespace_info(const std::string& ns, const std::stop_token& stop);

 private:
  base::Result<bool> ask(const std::string& token, const kube::AccessQuestion& right,
                         const std::stop_token& stop);

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

}  // namespace gpupool::readers
