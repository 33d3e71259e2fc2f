// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "nvidia/nvml/source.h"

namespace gpupool::nvidia {

// The fake NVML with a control file of its own, and a directory that stands for /sys.
class FakeDriver {
 public:
  explicit FakeDriver(const std::string& control);
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  // Replaces the control file.
  void say(const std::string& control);
  void write_sysfs(const std::string& path, const std::string& content);
  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path sysfs() const { return directory_ / "sys"; }

  std::unique_ptr<inventory::GpuSource> source() const;
  std::unique_ptr<inventory::GpuSource> source(const std::string& library) const;

 private:
  std::filesystem::path directory_;
};

// As "NVIDIA driver" files, where CMake has built them.
std::string fake_library();
std::string old_fake_library();

// What the driver lists, or nothing with a test failure.
inventory::Inventory list_or_fail(inventory::GpuSource& source);

}  // namespace gpupool::nvidia
