// SPDX-License-Identifier: Apache-2.0
#pragma once

// Named places where tests end the process with SIGKILL. The library that ships has none of them: only
// objects compiled with GPUPOOL_KILL_POINTS call the function, which the test defines.
#ifdef GPUPOOL_KILL_POINTS
extern "C" void gpupool_kill_point(const char* name);
#define GPUPOOL_KILL_POINT(name) gpupool_kill_point(name)
#else
#define GPUPOOL_KILL_POINT(name) static_cast<void>(0)
#endif
