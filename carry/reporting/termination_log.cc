// SPDX-License-Identifier: Apache-2.0
#include "reporting/termination_log.h"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace gpupool::carry {

Outcome<void> write_termination_log(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.flush();
  if (!file)
    return failed(FailureKind::kLocal,
                  "cannot write " + path + ": " + std::generic_category().message(errno));
  return {};
}

}  // namespace gpupool::carry
