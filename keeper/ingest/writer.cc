// SPDX-License-Identifier: Apache-2.0
#include "ingest/writer.h"

#include <algorithm>

namespace gpupool::keeper {

namespace {

// Headers do not count for the launcher, and the last words of a command may come on top.
constexpr double kTolerated = 512.0 * 1024;

}  // namespace

std::uint64_t Writer::allowed(const Rate& rate, base::SteadyTime now) {
  const double seconds = std::chrono::duration<double>(now - refilled).count();
  tokens = std::min(rate.burst, tokens + seconds * rate.bytes_per_second);
  refilled = now;
  return tokens > 0 ? static_cast<std::uint64_t>(tokens) : 0;
}

void Writer::spend(std::size_t bytes, const Rate& rate, base::SteadyTime now) {
  allowed(rate, now);
  tokens -= static_cast<double>(bytes);
  if (tokens >= -kTolerated) return;
  const std::chrono::duration<double> pause(-tokens / rate.bytes_per_second);
  paused_until = now + std::chrono::ceil<std::chrono::milliseconds>(pause);
}

}  // namespace gpupool::keeper
