// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/streams.h"

#include "tests/fake-cuda/graphs.h"
#include "tests/fake-cuda/modules.h"
#include "tests/fake-cuda/pools.h"

namespace gpupool::fake_cuda {

namespace {

constexpr std::uintptr_t kLastSpecialHandle = 2;  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD

}  // namespace

Stream* stream_of(Driver& driver, Context& context, Stream* handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= kLastSpecialHandle) {
    Stream& stream = driver.objects().default_streams[context.device];
    stream.context = &context;
    return &stream;
  }
  return driver.objects().streams.contains(handle) ? handle : nullptr;
}

void synchronised(Driver& driver, Context& context) { trim_pools(driver, *context.device); }

Result launch(Driver& driver, Context& context, Function* function, Stream* handle) {
  Stream* const stream = stream_of(driver, context, handle);
  if (stream == nullptr || !is_function(driver, function)) return Result::kInvalidHandle;
  if (stream->capture != nullptr) {
    add_node(*stream->capture, NodeType::kKernel);
    return Result::kSuccess;
  }
  stream->clock_ns += driver.objects().kernel_ns;
  driver.state().count_launch(stream->context->device->state, driver.objects().kernel_ns);
  return Result::kSuccess;
}

}  // namespace gpupool::fake_cuda
