// SPDX-License-Identifier: Apache-2.0
// say-memory: what NVML says of the memory of each device; see say_memory.h.
#include "tests/limiter/nvml/say_memory.h"

int main() { return say_memory(); }
