// SPDX-License-Identifier: Apache-2.0
// say-memory [again]: what NVML says of the memory of each device; see say_memory.h. `again`: twice, and
// meanwhile all descriptors are closed, and others have their numbers.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "tests/limiter/nvml/say_memory.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "again") {
    if (const int failed = say_memory(); failed != 0) return failed;
    syscall(SYS_close_range, 3U, ~0U, 0U);
    for (int i = 0; i < 20; ++i) {
      if (open("/dev/zero", O_RDONLY) < 0) return 1;
    }
  }
  return say_memory();
}
