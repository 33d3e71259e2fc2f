// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/cuda/charge.h"
#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// What contexts, code and stacks take. No call says it: it is what NVML says that this process uses less what
// it is charged for otherwise. Where NVML does not say it (State kUnmeasured) each context is charged by the
// estimate of the limits file.

// What a new context is expected to take. Called before it is made.
std::uint64_t expected_context(unsigned position);
// The driver made a context within `reserved`, or took up one that is active already (nothing reserved).
void context_made(CUcontext context, CUdevice device, Reserved& reserved);
// cuCtxAttach and cuCtxDetach. True: that was the last use.
void context_attached(CUcontext context);
bool context_detached(CUcontext context);
// The driver destroyed it, with everything that it owned.
void context_destroyed(CUcontext context);

// Stacks and heaps of the current context grew by so many bytes, within `reserved`; they shrank.
void context_grew(unsigned position, Reserved& reserved, std::uint64_t bytes);
void context_shrank(unsigned position, std::uint64_t bytes);

// Something has changed, or may have. Measured now if the last time was a second ago, else by a later call of
// measure_if_due().
void contexts_changed(unsigned position);
void measure_if_due();
// The same at once: a request does not fit, and what is charged may be too much.
void measure_if_changed(unsigned position);
// Measures now, whenever the last time was.
void measure_contexts(unsigned position);

// Measures if that was never done: the context came from where no call of ours is.
void measure_first_context(CUdevice device, unsigned position);

void forget_contexts_after_fork();

}  // namespace gpupool::limiter
