// SPDX-License-Identifier: Apache-2.0
#include "tests/support/temporary_folder.h"

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>

namespace gpupool::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = "/tmp/gpupool-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

}  // namespace gpupool::test
