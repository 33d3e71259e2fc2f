// SPDX-License-Identifier: Apache-2.0
// use-slice USED_MIB... -- PROGRAM [ARGUMENT...]: makes the region for the limits file of this container,
// uses so much of each device in the process's own slot, and runs a program meanwhile. A USED_MIB of "dead"
// leaves 1 GiB in the slot of a process that ended. Its code is the program's. A PROGRAM of "itself" is
// say-memory in this process.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>

#include "limiter/limits/limits.h"
#include "limiter/limits/paths.h"
#include "limiter/region/ledger.h"
#include "limiter/region/region_file.h"
#include "tests/limiter/nvml/say_memory.h"

namespace {

using namespace gpupool::limiter;

constexpr std::uint64_t kMib = 1ULL << 20U;

constinit Ledger ledger;

void use(unsigned device, std::uint64_t bytes) {
  if (ledger.reserve(device, bytes) == Reservation::kRefused) {
    std::cerr << "use-slice: refused\n";
    _exit(3);
  }
  ledger.commit(device, Class::kMemory, bytes, bytes);
}

void leave_dead_slot(const Limits& limits, unsigned device) {
  const pid_t child = fork();
  if (child == 0) {
    ledger.attach(kRegionPath, limits);
    use(device, 1024 * kMib);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const Limits limits = load_limits(kLimitsPath, environ);
  std::array<RegionDevice, kMaxDevices> devices{};
  for (unsigned i = 0; i < limits.count; ++i) {
    devices[i] = {limits.devices[i].uuid, limits.devices[i].limited ? limits.devices[i].bytes : 0};
  }
  if (create_region(kRegionPath, {devices.data(), limits.count}) != 0) {
    std::cerr << "use-slice: no region\n";
    return 3;
  }
  int next = 1;
  for (; next < argc && std::string_view(argv[next]) == "dead"; ++next) {
    leave_dead_slot(limits, static_cast<unsigned>(next - 1));
  }
  ledger.attach(kRegionPath, limits);
  for (int i = next; i < argc && std::string_view(argv[i]) != "--"; next = ++i) {
    use(static_cast<unsigned>(i - 1), std::stoull(argv[i]) * kMib);
  }
  if (next + 1 < argc && std::string_view(argv[next + 1]) == "itself") return say_memory();
  pid_t child = 0;
  if (next + 1 >= argc ||
      posix_spawnp(&child, argv[next + 1], nullptr, nullptr, &argv[next + 1], environ) != 0) {
    std::cerr << "use-slice: nothing to run\n";
    return 3;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
