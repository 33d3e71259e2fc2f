// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

// The stream of a handle: null and the two special handles are the default stream of the context's device;
// null if there is no such stream.
Stream* stream_of(Driver& driver, Context& context, Stream* handle);
// What every wait for the device does.
void synchronised(Driver& driver, Context& context);
// One kernel: on the stream's clock and in the state file, or in the graph that the stream captures.
Result launch(Driver& driver, Context& context, Function* function, Stream* handle);

}  // namespace gpupool::fake_cuda
