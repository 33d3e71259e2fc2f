// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "limiter/limits/crc32.h"
#include "limiter/limits/limits.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace limiter = gpupool::limiter;

namespace {

void check_limits(const limiter::Limits& limits) {
  using Source = limiter::Limits::Source;
  require((limits.source == Source::kBad) == (limits.problem != nullptr),
          "bad limits say why, and others do not");
  require(limits.count <= limiter::kMaxDevices, "no more devices than there is room for");
  require(limits.source == Source::kFile || limits.source == Source::kEnvironment || limits.count == 0,
          "without limits no devices");
  require(limits.source != Source::kBad || limits.limits_anything(), "bad limits refuse");
  require(limits.wait_seconds <= limiter::kMaxWaitSeconds, "the time to wait is bounded");
  for (unsigned i = 0; i < limits.count; ++i) {
    const auto& device = limits.devices[i];
    require(device.uuid[sizeof(device.uuid) - 1] == '\0', "a UUID ends");
    require(device.limited ? device.bytes > 0 && device.bytes <= limiter::kMaxMib << 20U : device.bytes == 0,
            "a limit is a size");
    require(device.cores <= 100, "cores are a percentage");
    if (limits.source == Source::kFile) {
      require(limiter::find_device(limits, device.uuid) == i, "a device is found by its UUID");
    }
  }
}

}  // namespace

// The lines of a file, as they are and with a good checksum; then the same bytes as variables.
void fuzz_limits_file(std::string_view input) {
  check_limits(limiter::parse_limits(input));
  std::array<char, 32> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "crc32 %08x\n", limiter::crc32(input));
  check_limits(limiter::parse_limits(std::string(input) + checksum.data()));
  const auto lines = gpupool::fuzz::split(input, '\n');
  std::vector<const char*> environment;
  for (const auto& line : lines) environment.push_back(line.c_str());
  environment.push_back(nullptr);
  check_limits(limiter::parse_environment(environment.data()));
}
