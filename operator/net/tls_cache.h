#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "net/endpoint.h"

namespace gpupool::net {

// Remembers what an Endpoint's `tls` answered last, so that files are not read for every request.
// Thread-safe.
class TlsCache {
 public:
  // How old an answer may be for a request over a pooled connection.
  static constexpr std::chrono::seconds kMaxAge{2};

  // source may be empty: the system's CAs and no client certificate.
  explicit TlsCache(std::function<base::Result<TlsMaterial>()> source);

  // The last good answer, asked for anew if it is older than kMaxAge or `fresh` is set. The pointer changes
  // when, and only when, the answer did. An error only if there never was a good answer. While one thread
  // asks, others get the last good answer.
  base::Result<std::shared_ptr<const TlsMaterial>> get(base::SteadyTime now, bool fresh);

 private:
  std::shared_ptr<const TlsMaterial> good() const;

  const std::function<base::Result<TlsMaterial>()> source_;
  std::mutex asking_;  // taken before mutex_
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsMaterial> good_;
  base::SteadyTime asked_at_{};
};

}  // namespace gpupool::net
