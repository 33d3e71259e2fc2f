// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "kube/config/kubeconfig.h"
#include "net/endpoint.h"

namespace gpupool::kube {

// TLS material from a kubeconfig or from files. A file is read again when its size, time or inode has
// changed. Thread-safe.
class TlsFiles {
 public:
  // Each part may be empty. settings: the values that do not come from files.
  TlsFiles(KubeData ca, KubeData client_cert, KubeData client_key, net::TlsMaterial settings);

  // kIo or kInvalidArgument, with key and file, if something cannot be read or is no PEM.
  base::Result<net::TlsMaterial> material();

 private:
  struct Stamp {
    std::int64_t size = -1;  // -1: no such file
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::uint64_t inode = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const KubeData& data);
  std::vector<Stamp> stamps() const;
  base::Result<net::TlsMaterial> read() const;

  const KubeData ca_;
  const KubeData cert_;
  const KubeData key_;
  const net::TlsMaterial settings_;
  base::Mutex mutex_;
  std::vector<Stamp> seen_ GPUPOOL_GUARDED_BY(mutex_);
  std::optional<net::TlsMaterial> material_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::kube
