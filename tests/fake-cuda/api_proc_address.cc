// SPDX-License-Identifier: Apache-2.0
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

struct Found {
  void* function = nullptr;
  int status = kSymbolNotFound;
};

// The newest form of a function that `version` of CUDA knew, as the driver of this machine has it.
Found find(const char* symbol, int version, std::uint64_t flags) {
  Found found;
  const int driver_branch = driver().branch();
  const bool per_thread = (flags & kPerThreadStream) != 0;
  for (unsigned i = 0; i < kProcCount; ++i) {
    const ProcEntry& entry = kProcTable[i];
    if (std::strcmp(entry.name, symbol) != 0 || entry.driver > driver_branch) continue;
    if (!(per_thread ? entry.per_thread : entry.legacy)) continue;
    if (entry.version <= version) {
      found = {.function = entry.function,
               .status = kSymbolFound};  // entries of a name are in the order of versions
    } else if (found.status == kSymbolNotFound) {
      found.status = kSymbolNeedsNewer;
    }
  }
  return found;
}

}  // namespace

CUDA_FUNCTION(cuGetProcAddress_v2)
(const char* symbol, void** out, int version, std::uint64_t flags, int* status) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  if (symbol == nullptr || out == nullptr) return Result::kInvalidValue;
  if (const auto failure = d.failure(__func__)) return *failure;
  const Found found = find(symbol, version, flags);
  *out = found.function;
  if (status != nullptr) *status = found.status;
  return Result::kSuccess;
}

CUDA_FUNCTION(cuGetProcAddress)(const char* symbol, void** out, int version, std::uint64_t flags) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  if (symbol == nullptr || out == nullptr) return Result::kInvalidValue;
  if (const auto failure = d.failure(__func__)) return *failure;
  const Found found = find(symbol, version, flags);
  if (found.function == nullptr) return Result::kNotFound;  // and the pointer stays as it was
  *out = found.function;
  return Result::kSuccess;
}
