// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/token_source.h"

namespace gpupool::kube {

// A token that never changes.
class FixedToken final : public TokenSource {
 public:
  explicit FixedToken(std::string token) : token_(std::move(token)) {}
  base::Result<std::string> token(std::stop_token) override { return token_; }
  void invalidate(const std::string&) override {}

 private:
  const std::string token_;
};

// A token in a file that may be rotated. The file is read again every 60 s less 10 s of leeway (client-go's
// transport/token_source.go), and after a 401. While the file cannot be read, the old token remains.
// Thread-safe.
class FileToken final : public TokenSource {
 public:
  // Reads the file once, so that a missing or empty file is an error at start. REQUIRES: clock outlives the
  // result.
  static base::Result<std::shared_ptr<FileToken>> open(const std::string& path, base::Clock& clock);

  base::Result<std::string> token(std::stop_token stop) override;
  void invalidate(const std::string& rejected) override;

 private:
  FileToken(std::string path, base::Clock& clock, std::string token);

  const std::string path_;
  base::Clock& clock_;
  base::Mutex mutex_;
  std::string token_ GPUPOOL_GUARDED_BY(mutex_);
  base::SteadyTime read_at_ GPUPOOL_GUARDED_BY(mutex_);
  bool due_ GPUPOOL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpupool::kube
