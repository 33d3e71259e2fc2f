// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints for each device what NVML says of it: UUID, then total, free and used, once as
// nvmlDeviceGetMemoryInfo and once, with `reserved` at the end, as nvmlDeviceGetMemoryInfo_v2 says; then what
// the latter returns for an unknown version. Returns an exit code.
int say_memory();
