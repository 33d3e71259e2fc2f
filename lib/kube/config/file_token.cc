// SPDX-License-Identifier: Apache-2.0
#include "kube/config/file_token.h"

#include <utility>

#include "base/read_file.h"

namespace gpupool::kube {
namespace {

constexpr std::chrono::seconds kReadAgainAfter{50};

base::Result<std::string> read_token(const std::string& path) {
  auto text = base::read_file(path);
  if (!text) return text;
  std::string token = base::trimmed(*text);
  if (token.empty()) return base::fail(base::ErrorCode::kInvalidArgument, path + ": holds no token");
  return token;
}

}  // namespace

base::Result<std::shared_ptr<FileToken>> FileToken::open(const std::string& path, base::Clock& clock) {
  auto token = read_token(path);
  if (!token) return tl::unexpected<base::Error>(token.error());
  return std::shared_ptr<FileToken>(new FileToken(path, clock, std::move(*token)));
}

FileToken::FileToken(std::string path, base::Clock& clock, std::string token)
    : path_(std::move(path)), clock_(clock), token_(std::move(token)), read_at_(clock.now()) {}

base::Result<std::string> FileToken::token(std::stop_token) {
  const base::MutexLock lock(mutex_);
  if (due_ || clock_.now() - read_at_ >= kReadAgainAfter) {
    if (auto fresh = read_token(path_)) {
      token_ = std::move(*fresh);
      read_at_ = clock_.now();
      due_ = false;
    }
  }
  return token_;
}

void FileToken::invalidate(const std::string& rejected) {
  const base::MutexLock lock(mutex_);
  if (rejected == token_) due_ = true;
}

}  // namespace gpupool::kube
