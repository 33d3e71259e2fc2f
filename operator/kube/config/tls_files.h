#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/config/kubeconfig.h"
#include "net/endpoint.h"

namespace gpupool::kube {

// TLS material that stands in a kubeconfig or in files; a file is read again when its size, time or inode
// changed. Thread-safe.
class TlsFiles {
 public:
  // Each may be empty. settings: what does not come from files.
  TlsFiles(KubeData ca, KubeData client_cert, KubeData client_key, net::TlsMaterial settings);

  // kIo or kInvalidArgument, naming the key and the file, if something cannot be read or is no PEM.
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
  std::mutex mutex_;  // guards the rest
  std::vector<Stamp> seen_;
  std::optional<net::TlsMaterial> material_;
};

}  // namespace gpupool::kube
