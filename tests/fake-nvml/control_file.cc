// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/control_file.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/fake-nvml/parse_world.h"

namespace gpupool::fake_nvml {

ControlFile::ControlFile() {
  const char* path = std::getenv("GPUPOOL_FAKE_NVML");  // NOLINT(concurrency-mt-unsafe): read once at load
  if (path != nullptr) path_ = path;
  world_.loaded = false;
}

const World& ControlFile::read() {
  struct stat now{};
  if (path_.empty() || stat(path_.c_str(), &now) != 0) {
    seen_ = {};
    world_.loaded = false;
    return world_;
  }
  const Identity identity{.inode = now.st_ino,
                          .size = now.st_size,
                          .modified_ns = now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec};
  if (identity == seen_) return world_;
  seen_ = identity;
  std::ifstream file(path_);
  Parsed parsed = parse_world({std::istreambuf_iterator<char>(file), {}});
  if (parsed.error.empty()) {
    world_ = std::move(parsed.world);
  } else {
    std::fprintf(stderr, "fake NVML: %s: %s\n", path_.c_str(), parsed.error.c_str());
  }
  return world_;
}

}  // namespace gpupool::fake_nvml
