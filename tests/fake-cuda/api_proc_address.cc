// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/proc_table.h"

// How programs ask the driver for its functions.
using namespace gpupool::fake_cuda;

namespace {

constexpr int kSymbolFound = 0;
constexpr int kSymbolNotFound = 1;
constexpr int kSymbolNeedsNewer = 2;
constexpr std::uint64_t kPerThreadStream = 2;
constexpr std::uint64_t kKnownFlags = 3;

// The newest form of a function that `version` of CUDA knew, as the driver of this machine has it.
Result find(const char* symbol, void** out, int version, std::uint64_t flags, int* status) {
  if (symbol == nullptr || out == nullptr) return Result::kInvalidValue;
  *out = nullptr;
  int answer = kSymbolNotFound;
  const int newest = driver().cuda_version();
  for (unsigned i = 0; i < kProcCount; ++i) {
    const ProcEntry& entry = kProcTable[i];
    const bool per_thread = (flags & kPerThreadStream) != 0;
    if (std::strcmp(entry.name, symbol) != 0 || entry.version > newest) continue;
    if (!(per_thread ? entry.per_thread : entry.legacy)) continue;
    if (entry.version > version) {
      if (answer != kSymbolFound) answer = kSymbolNeedsNewer;
      continue;
    }
    answer = kSymbolFound;
    *out = entry.function;  // entries of a name are in the order of versions
  }
  if (status != nullptr) *status = answer;
  if (flags > kKnownFlags) return Result::kInvalidValue;
  return Result::kSuccess;
}

}  // namespace

CUDA_FUNCTION(cuGetProcAddress_v2)
(const char* symbol, void** out, int version, std::uint64_t flags, int* status) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  return find(symbol, out, version, flags, status);
}

CUDA_FUNCTION(cuGetProcAddress)(const char* symbol, void** out, int version, std::uint64_t flags) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  const Result code = find(symbol, out, version, flags, nullptr);
  if (code != Result::kSuccess) return code;
  return *out != nullptr ? Result::kSuccess : Result::kNotFound;
}
