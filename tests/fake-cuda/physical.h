// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

Result create_physical(Driver& driver, std::uint64_t size, const AllocationProperties& properties,
                       std::uint64_t* out);
// One more reference of the program; each retained handle has the value of the first.
std::uint64_t add_handle(Driver& driver, const std::shared_ptr<Physical>& memory);
// Ends memory that nothing refers to.
void give_back_unused(Driver& driver, Physical& memory);
// Mappings are undone as a whole.
Result unmap_physical(Driver& driver, Pointer address, std::uint64_t size);
// A descriptor, the caller's; -1: none can be had. Its holder imports the memory as long as a process has it.
int export_physical(Driver& driver, Physical& memory);
Result import_physical(Driver& driver, int file, std::uint64_t* out);

}  // namespace gpupool::fake_cuda
