// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/preflight/temporary_root.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace gpupool::test {

namespace fs = std::filesystem;

TemporaryRoot::TemporaryRoot() {
  std::string pattern = (fs::temp_directory_path() / "gpupool-root-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
  folder_ = pattern;
}

TemporaryRoot::~TemporaryRoot() {
  std::error_code none;
  fs::remove_all(folder_, none);
}

void TemporaryRoot::write(const std::string& path, const std::string& text) const {
  fs::create_directories(fs::path(folder_ + path).parent_path());
  std::ofstream(folder_ + path) << text;
}

void TemporaryRoot::link(const std::string& path, const std::string& target) const {
  fs::create_directories(fs::path(folder_ + path).parent_path());
  fs::create_symlink(target, folder_ + path);
}

}  // namespace gpupool::test
