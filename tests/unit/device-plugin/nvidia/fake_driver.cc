// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/nvidia/fake_driver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace gpupool::nvidia {

namespace {

void write(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  const std::filesystem::path draft = path.string() + ".new";
  std::ofstream(draft) << content;
  std::filesystem::rename(draft, path);
}

std::filesystem::path make_directory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gpupool-nvml-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
  return pattern;
}

}  // namespace

FakeDriver::FakeDriver(const std::string& control) : directory_(make_directory()) {
  setenv("GPUPOOL_FAKE_NVML", (directory_ / "control.json").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  say(control);
}

FakeDriver::~FakeDriver() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void FakeDriver::say(const std::string& control) { write(directory_ / "control.json", control); }

void FakeDriver::write_sysfs(const std::string& path, const std::string& content) {
  write(sysfs() / path, content);
}

std::unique_ptr<inventory::GpuSource> FakeDriver::source() const { return source(fake_library()); }

std::unique_ptr<inventory::GpuSource> FakeDriver::source(const std::string& library) const {
  return make_nvml_source({.library = library, .sysfs = sysfs().string()}, base::Log::none());
}

std::string fake_library() { return GPUPOOL_FAKE_NVML_LIBRARY; }
std::string old_fake_library() { return GPUPOOL_FAKE_NVML_OLD_LIBRARY; }

inventory::Inventory list_or_fail(inventory::GpuSource& source) {
  auto listed = source.list();
  if (listed) return std::move(*listed);
  ADD_FAILURE() << listed.error().message;
  return {};
}

}  // namespace gpupool::nvidia
