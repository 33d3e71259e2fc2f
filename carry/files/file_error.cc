// SPDX-License-Identifier: Apache-2.0
#include "files/file_error.h"

#include <cerrno>
#include <system_error>

namespace gpupool::carry {

tl::unexpected<Failure> file_failure(const std::string& what, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return failed(full ? FailureKind::kTooLarge : FailureKind::kLocal,
                what + ": " + std::generic_category().message(code));
}

}  // namespace gpupool::carry
