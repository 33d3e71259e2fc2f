// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/failures.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace gpupool::fake_cuda {

Failures::Failures() {
  const char* path = std::getenv("GPUPOOL_FAKE_CUDA_FAIL");  // NOLINT(concurrency-mt-unsafe): read once
  if (path != nullptr) path_ = path;
}

void Failures::read() {
  struct stat now{};
  if (stat(path_.c_str(), &now) != 0) {
    entries_.clear();
    modified_ns_ = -1;
    return;
  }
  const std::int64_t modified = now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec;
  if (modified == modified_ns_ && now.st_ino == inode_) return;
  modified_ns_ = modified;
  inode_ = now.st_ino;
  entries_.clear();
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    Entry entry;
    int code = 0;
    if (!(words >> name >> entry.count >> code)) continue;
    entry.code = static_cast<Result>(code);
    words >> entry.skip;
    for (const char* twin : {"_ptsz", "_ptds"}) {
      if (name.ends_with(twin)) name.resize(name.size() - 5);
    }
    entries_[name] = entry;
  }
}

std::optional<Result> Failures::next(std::string_view name) {
  if (path_.empty()) return std::nullopt;
  read();
  const auto at = entries_.find(name);
  if (at == entries_.end()) return std::nullopt;
  Entry& entry = at->second;
  if (entry.skip > 0) {
    --entry.skip;
    return std::nullopt;
  }
  if (entry.count == 0) return std::nullopt;
  --entry.count;
  return entry.code;
}

}  // namespace gpupool::fake_cuda
