// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fake-cuda/types.h"

namespace gpupool::fake_cuda {

// Failures to inject: the file that GPUPOOL_FAKE_CUDA_FAIL names has lines "NAME COUNT CODE [SKIP]". The next
// COUNT calls of the exported function NAME by this process, after SKIP good ones, return CODE and do
// nothing. The file is read again when it changes, and counting begins anew. Not thread-safe.
class Failures {
 public:
  Failures();
  std::optional<Result> next(std::string_view name);

 private:
  struct Entry {
    std::uint64_t skip = 0;
    std::uint64_t count = 0;
    Result code = Result::kUnknown;
  };
  void read();

  std::string path_;
  std::uint64_t inode_ = 0;
  std::int64_t modified_ns_ = -1;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace gpupool::fake_cuda
