// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/fake-cuda/call.h"

// The driver's functions that lend allocations to other processes. The lender's memory file is opened by its
// PID, so both must be in one PID namespace.
using namespace gpupool::fake_cuda;

namespace {

struct IpcContent {
  std::uint64_t magic;
  std::int32_t pid;
  std::int32_t file;
  std::uint64_t offset;
  std::uint64_t size;  // of the allocation
  std::uint64_t backing_size;
  std::uint64_t shared;  // 0: a small one, of which the borrower is never charged
};
static_assert(sizeof(IpcContent) <= sizeof(IpcHandle));
constexpr std::uint64_t kIpcMagic = 0x6375646120697063;

Result lend(Driver& d, IpcHandle* out, Pointer address) {
  std::uint64_t begin = 0;
  Range* const range = d.memory().holding(address, &begin);
  if (out == nullptr || range == nullptr || range->source != Source::kAllocated) return Result::kInvalidValue;
  const int file = range->backing->file();
  if (file < 0) return Result::kOperatingSystem;
  if (range->charged > 0 && range->shared == 0) {
    range->shared = d.state().share(range->device->state, range->charged);
    if (range->shared == 0) return Result::kOutOfMemory;
  }
  const IpcContent content{.magic = kIpcMagic,
                           .pid = getpid(),
                           .file = file,
                           .offset = range->offset,
                           .size = range->size,
                           .backing_size = range->backing->size(),
                           .shared = range->shared};
  *out = {};
  std::memcpy(out->bytes, &content, sizeof content);
  return Result::kSuccess;
}

Result borrow(Driver& d, Context& context, Pointer* out, const IpcHandle& handle) {
  IpcContent content{};
  std::memcpy(&content, handle.bytes, sizeof content);
  if (out == nullptr || content.magic != kIpcMagic) return Result::kInvalidValue;
  if (content.pid == getpid()) return Result::kInvalidContext;  // the real one refuses its own as well
  const std::string path = "/proc/" + std::to_string(content.pid) + "/fd/" + std::to_string(content.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (file < 0) return Result::kInvalidValue;
  if (content.shared != 0 && !d.state().hold(content.shared)) {
    close(file);
    return Result::kInvalidValue;
  }
  const std::uint64_t address = reserve_addresses(round_up(content.size, kGranule), kGranule);
  if (address == 0) {
    if (content.shared != 0) d.state().drop(content.shared);
    close(file);
    return Result::kOutOfMemory;
  }
  d.memory().add(address, {.size = content.size,
                           .source = Source::kIpc,
                           .device = context.device,
                           .context = &context,
                           .backing = std::make_shared<Backing>(content.backing_size, file),
                           .offset = content.offset,
                           .shared = content.shared});
  *out = address;
  return Result::kSuccess;
}

Result give_back(Driver& d, Pointer address) {
  const Range* const range = d.memory().at(address);
  if (range == nullptr || range->source != Source::kIpc) return Result::kInvalidValue;
  if (range->shared != 0) d.state().drop(range->shared);
  release_addresses(address, round_up(range->size, kGranule));
  d.memory().remove(address);
  return Result::kSuccess;
}

}  // namespace

CUDA_FUNCTION(cuIpcGetMemHandle)(IpcHandle* out, Pointer address) {
  return call_in_context(__func__, [&](Driver& d, Context&) { return lend(d, out, address); });
}
CUDA_FUNCTION(cuIpcOpenMemHandle)(Pointer* out, IpcHandle handle, unsigned int) {
  return call_in_context(__func__,
                         [&](Driver& d, Context& context) { return borrow(d, context, out, handle); });
}
CUDA_FUNCTION(cuIpcOpenMemHandle_v2)(Pointer* out, IpcHandle handle, unsigned int) {
  return call_in_context(__func__,
                         [&](Driver& d, Context& context) { return borrow(d, context, out, handle); });
}
CUDA_FUNCTION(cuIpcCloseMemHandle)(Pointer address) {
  return call_in_context(__func__, [&](Driver& d, Context&) { return give_back(d, address); });
}
