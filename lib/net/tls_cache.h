// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/mutex.h"
#include "net/endpoint.h"

namespace gpupool::net {

// Caches the answer of an Endpoint's `tls`, so that files are not read for every request. Thread-safe.
class TlsCache {
 public:
  // How old an answer may be for a request over a pooled connection.
  static constexpr std::chrono::seconds kMaxAge{2};

  // source may be empty: the system's CAs and no client certificate.
  explicit TlsCache(std::function<base::Result<TlsMaterial>()> source);

  // Returns the last good answer. Calls `source` again if the answer is older than kMaxAge or `fresh` is set;
  // meanwhile other threads get the last good answer. The returned pointer changes exactly if the answer has
  // changed. Returns an error only if there never was a good answer.
  base::Result<std::shared_ptr<const TlsMaterial>> get(base::SteadyTime now, bool fresh);

 private:
  std::shared_ptr<const TlsMaterial> good() const;

  const std::function<base::Result<TlsMaterial>()> source_;
  // Held while source_ is called, so that one thread asks at a time. It protects no data, and clang cannot
  // follow how get() takes it, so it is a plain mutex. Taken before mutex_.
  std::mutex asking_;
  mutable base::Mutex mutex_;
  std::shared_ptr<const TlsMaterial> good_ GPUPOOL_GUARDED_BY(mutex_);
  base::SteadyTime asked_at_ GPUPOOL_GUARDED_BY(mutex_){};
};

}  // namespace gpupool::net
