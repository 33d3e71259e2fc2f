// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/cuda/context_charge.h"

namespace gpupool::limiter {

// Every call that launches work passes here, before the driver's. Where the share of cores will be enforced;
// today nothing waits. Whoever makes it wait must not do so on a stream that is captured, nor with a lock
// held, and never hold back copies, frees, events and host functions: ranks wait for each other.
inline void pass_launch_gate() {
  measure_if_due();  // code that is loaded at its first launch takes memory; one load of an atomic if nothing
                     // has changed
}

}  // namespace gpupool::limiter
