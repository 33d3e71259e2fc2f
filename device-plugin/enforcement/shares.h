// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "enforcement/audit.h"
#include "enforcement/counted_container.h"
#include "enforcement/wait_arbiter.h"

namespace gpupool::enforcement {

// What each pod may use of each GPU with a limit, and has counted there. Pure.
std::vector<Share> shares_of(const std::vector<CountedContainer>& containers);

// What each container holds and waits for. Containers whose regions cannot be read are left out. Pure.
std::vector<Holder> holders_of(const std::vector<CountedContainer>& containers);

}  // namespace gpupool::enforcement
