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
// The driver made a context within `reserved`, or gave another use of one (nothing reserved). Its number; 0:
// nothing is charged for it.
std::uint64_t context_made(CUcontext context, CUdevice device, Reserved& reserved);
// One more use, of cuCtxAttach.
void context_attached(CUcontext context);

// A number of ours for the calling thread's context: the driver may give a destroyed one's handle to a new
// one. 0: there is none.
std::uint64_t current_context_number();

struct KnownContext {
  std::uint64_t number;
  std::uint64_t estimated;  // bytes that are charged because nothing measures them
  std::uint32_t position;
  std::uint32_t uses;
  bool charged;  // or measured
};

// The end of a use of a context, around the driver's call. Like Leaving it takes out what ends before the
// call. What is not done at the end is put back.
class LeavingContext {
 public:
  enum class Ends : std::uint8_t { kOneUse, kAll };
  // `number` is that of the context that is meant, if the handle may be another's by now; 0: whichever it is.
  LeavingContext(CUcontext context, Ends ends, std::uint64_t number = 0);
  ~LeavingContext();
  LeavingContext(const LeavingContext&) = delete;
  LeavingContext& operator=(const LeavingContext&) = delete;

  // Whether that was the last use that is known of.
  bool last() const { return taken_; }
  // The driver has ended the use but not the context, although the last use that is known of ended: there are
  // others.
  void still_used() { known_.uses = 0; }
  // The driver has ended the use, and with the last one the context with everything that it owned.
  void done();
  // The driver has ended the context, whatever is known of uses.
  void ended();

 private:
  void settle();

  CUcontext context_;
  bool found_ = false;
  bool taken_ = false;
  bool settled_ = false;
  KnownContext known_{};
};

// Stacks and heaps of a context grew by so many bytes, within `reserved`; they shrank.
void context_grew(CUcontext context, unsigned position, Reserved& reserved, std::uint64_t bytes);
void context_shrank(CUcontext context, unsigned position, std::uint64_t bytes);

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
