// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

Result create_array(Driver& driver, Context& context, const Array3DDescriptor& descriptor, unsigned levels,
                    Array** out);
Result destroy_array(Driver& driver, Array* array);
// Maps memory to a part of an array that was made without, or unmaps it.
Result map_tile(Driver& driver, const ArrayMapInfo& info);
void free_arrays_of(Driver& driver, const Context& context);

}  // namespace gpupool::fake_cuda
