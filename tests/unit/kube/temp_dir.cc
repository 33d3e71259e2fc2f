// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kube/temp_dir.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace gpupool::test {

TempDir::TempDir() {
  path_ = (std::filesystem::temp_directory_path() / "gpupool-test-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp");
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
  // Written by rename, as the kubelet does: readers never see a partial file, and the inode changes.
  const std::string fresh = path(name) + ".new";
  std::ofstream(fresh, std::ios::binary) << text;
  std::filesystem::rename(fresh, path(name));
  return path(name);
}

std::string TempDir::script(const std::string& name, const std::string& text) const {
  write(name, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  return path(name);
}

ScopedEnv::ScopedEnv(const char* name, const char* value) : name_(name) {
  const char* old = std::getenv(name);
  was_set_ = old != nullptr;
  if (was_set_) before_ = old;
  if (value != nullptr) {
    ::setenv(name, value, 1);
  } else {
    ::unsetenv(name);
  }
}

ScopedEnv::~ScopedEnv() {
  if (was_set_) {
    ::setenv(name_.c_str(), before_.c_str(), 1);
  } else {
    ::unsetenv(name_.c_str());
  }
}

}  // namespace gpupool::test
