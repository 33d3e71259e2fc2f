// SPDX-License-Identifier: Apache-2.0
#include "limiter/limits/limits.h"
#include "limiter/limits/words.h"

namespace gpupool::limiter {
namespace {

constexpr std::string_view kVariable = "CUDA_DEVICE_MEMORY_LIMIT_";
constexpr std::uint64_t kMaxBytes = kMaxMib << 20U;

// Digits and perhaps a unit. 0 bytes are none.
bool parse_size(std::string_view text, std::uint64_t& bytes) {
  unsigned shift = 0;
  if (!text.empty()) {
    const char unit = text.back();
    if (unit == 'k' || unit == 'K') shift = 10;
    if (unit == 'm' || unit == 'M') shift = 20;
    if (unit == 'g' || unit == 'G') shift = 30;
  }
  if (shift != 0) text.remove_suffix(1);
  if (!parse_number(text, kMaxBytes >> shift, bytes) || bytes == 0) return false;
  bytes <<= shift;
  return true;
}

bool take_variable(std::string_view rest, Limits& limits) {
  std::uint64_t position = 0;
  if (!parse_number(take_until(rest, '='), kMaxDevices - 1, position)) return false;
  DeviceLimit& device = limits.devices[position];
  std::uint64_t bytes = 0;
  if (!parse_size(rest, bytes)) return false;
  // A variable that is there twice: the lower one.
  device.bytes = device.limited && device.bytes < bytes ? device.bytes : bytes;
  device.limited = true;
  if (position >= limits.count) limits.count = static_cast<unsigned>(position) + 1;
  return true;
}

}  // namespace

Limits parse_environment(const char* const* environment) {
  Limits limits{};
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string_view variable = *environment;
    if (!variable.starts_with(kVariable)) continue;
    variable.remove_prefix(kVariable.size());
    limits.source = Limits::Source::kEnvironment;
    if (take_variable(variable, limits)) continue;
    Limits bad{};
    bad.source = Limits::Source::kBad;
    bad.problem = "a variable CUDA_DEVICE_MEMORY_LIMIT_... is no size";
    return bad;
  }
  return limits;
}

}  // namespace gpupool::limiter
