#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
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

// A token in a file that someone rotates: read again every 60 s less 10 s of leeway (client-go's
// transport/token_source.go), and after a 401. While the file cannot be read the old token stays.
// Thread-safe.
class FileToken final : public TokenSource {
 public:
  // Reads the file once, so that a missing or empty one is an error at start. clock must outlive the result.
  static base::Result<std::shared_ptr<FileToken>> open(const std::string& path, base::Clock& clock);

  base::Result<std::string> token(std::stop_token stop) override;
  void invalidate(const std::string& rejected) override;

 private:
  FileToken(std::string path, base::Clock& clock, std::string token);

  const std::string path_;
  base::Clock& clock_;
  std::mutex mutex_;  // guards the rest
  std::string token_;
  base::SteadyTime read_at_;
  bool due_ = false;
};

}  // namespace gpupool::kube
