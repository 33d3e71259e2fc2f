// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "limiter/limits/limits.h"
#include "limiter/region/region_file.h"

namespace gpupool::limiter::testing {

// A region on tmpfs with one device, removed at the end.
class RegionFolder {
 public:
  explicit RegionFolder(std::uint64_t limit) : limit_(limit) {
    std::string pattern = "/dev/shm/gpupool-region-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::exit(2);
    folder_ = pattern;
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    make();
  }
  ~RegionFolder() { std::filesystem::remove_all(folder_); }
  RegionFolder(const RegionFolder&) = delete;
  RegionFolder& operator=(const RegionFolder&) = delete;

  // A new file in place of the old one.
  void make() const {
    std::filesystem::remove(path());
    const RegionDevice device{"GPU-a", limit_};
    if (create_region(path().c_str(), {&device, 1}) != 0) {
      std::perror("cannot make a region");
      std::exit(2);
    }
  }
  std::string path() const { return folder_ + "/region"; }
  Limits limits() const {
    Limits limits{};
    limits.source = Limits::Source::kFile;
    limits.count = 1;
    limits.devices[0] = {"GPU-a", true, limit_, 0};
    return limits;
  }

 private:
  std::uint64_t limit_;
  std::string folder_;
};

}  // namespace gpupool::limiter::testing
