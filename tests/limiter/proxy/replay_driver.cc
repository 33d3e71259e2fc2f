// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress of a libcuda.so.1 that replays what a real driver answered; generate_replay writes the
// rest of it.
#include "tests/limiter/proxy/replay_driver.h"

#include <cstdint>
#include <string_view>

namespace {

constexpr int kNotFound = 500;
constexpr std::uint64_t kPerThread = 2;
enum : unsigned { kFound, kUnknown, kNeedsNewer };

unsigned replay(std::string_view name, void** function, int version, std::uint64_t flags) {
  unsigned status = kUnknown;
  *function = nullptr;
  for (unsigned i = 0; i < replay_rule_count; ++i) {
    const ReplayRule& rule = replay_rules[i];
    if (rule.name != name || !((flags & kPerThread) != 0 ? rule.per_thread : rule.legacy)) {
      continue;
    }
    if (rule.version <= version) {
      *function = rule.function;
      status = kFound;
    } else if (status == kUnknown) {
      status = kNeedsNewer;
    }
  }
  return status;
}

}  // namespace

extern "C" {
int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags);
int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                        unsigned* status);
}

int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  return replay(name, function, version, flags) == kFound ? 0 : kNotFound;
}

#ifdef REPLAY_HAS_V2
int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                        unsigned* status) {
  const unsigned found = replay(name, function, version, flags);
  if (status != nullptr) {
    *status = found;
  }
  return 0;
}
#endif
