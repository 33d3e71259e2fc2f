// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// The device of a stream; of the default streams that of the current context. An error is the driver's.
CUresult device_of_stream(CUstream stream, CUdevice& device);

// Whether calls on it become nodes of a graph. `own_default`: the default stream is the thread's own. An
// error is the driver's, and that of allocations on the stream: it may be that another one is captured.
CUresult is_captured(CUstream stream, bool own_default, bool& captured);

}  // namespace gpupool::limiter
