// SPDX-License-Identifier: Apache-2.0
// memory-trace SEED STEPS LIMIT_MIB [measured]: random calls of all kinds that allocate or free, one in eight
// of them made to fail. After each the region must say exactly what the driver's state file says, and that
// must be within the limit (the same for both devices). What was refused must not have fitted. `measured`:
// NVML is there, and code is loaded too, which counts once it was measured. Prints how often each kind of
// call went well.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/limiter/cuda/trace.h"

namespace gpupool::limiter::test {

namespace {

// A process that allocates, lends and waits for its end.
Lent start_lender() {
  std::array<int, 2> pipes{};
  Lent lent{};
  if (pipe(pipes.data()) != 0) std::exit(3);
  if (const pid_t child = fork(); child != 0) {
    close(pipes[1]);  // so that the end of a lender is seen
    if (read(pipes[0], &lent, sizeof lent) != sizeof lent) std::exit(3);
    return lent;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  CUcontext context = nullptr;
  CUdeviceptr pointer = 0;
  bool good = cu("cuInit", 0U) == 0 && cu("cuDevicePrimaryCtxRetain", &context, 0) == 0 &&
              cu("cuCtxSetCurrent", context) == 0 &&
              cu("cuMemAlloc_v2", &pointer, std::size_t{10 * kMib}) == 0 &&
              cu("cuIpcGetMemHandle", &lent.handle, pointer) == 0;
  lent.pid = getpid();
  for (int& file : lent.files) {
    MemAllocationProp prop{};
    prop.type = 1;
    prop.requested_handle_types = 1;
    prop.location = {kLocationDevice, 1};
    CUmemGenericAllocationHandle handle = 0;
    good = good && cu("cuMemCreate", &handle, std::size_t{6 * kMib}, &prop, 0ULL) == 0 &&
           cu("cuMemExportToShareableHandle", static_cast<void*>(&file), handle, 1, 0ULL) == 0;
  }
  if (!good || write(pipes[1], &lent, sizeof lent) != sizeof lent) _exit(3);
  pause();
  _exit(0);
}

}  // namespace

void Trace::begin() {
  lent_ = start_lender();
  for (int device = 0; device < kDevices; ++device) lent_bytes_[device] = truth(device);
  ok("cuInit", 0U);
  ok("cuMemAddressReserve", &places_, std::size_t{kPlaces * kPlaceSize}, std::size_t{0}, CUdeviceptr{0},
     0ULL);
  for (int device = 0; device < kDevices; ++device) {
    ok("cuDevicePrimaryCtxRetain", &primary_[device], device);
  }
  ok("cuCtxSetCurrent", primary_[0]);
}

void Trace::step() {
  using Method = void (Trace::*)();
  constexpr std::array<Method, 12> kRows = {
      &Trace::linear, &Trace::free_one, &Trace::array, &Trace::physical, &Trace::pooled,  &Trace::pool,
      &Trace::graph,  &Trace::context,  &Trace::tiles, &Trace::borrowed, &Trace::capture, &Trace::code};
  (this->*kRows[below(kRows.size())])();
}

void Trace::end() {
  fails_ = false;
  while (!pointers_.empty()) free_at(0);
  while (!borrowed_.empty()) give_back(0);
  while (!modules_.empty()) unload(0);
  for (const CUdeviceptr address : graph_memory_) cu("cuMemFree_v2", address);
  while (!arrays_.empty()) destroy_array(0);
  while (!mapped_.empty()) unmap(0);
  while (!handles_.empty()) release(0);
  for (CUmemoryPool pool : pools_) ok("cuMemPoolDestroy", pool);
  for (const CUcontext context : primary_) {
    ok("cuCtxSetCurrent", context);
    ok("cuCtxSynchronize");
  }
  while (!contexts_.empty()) destroy_context(0);
  for (int device = 0; device < kDevices; ++device) {
    ok("cuDeviceGraphMemTrim", device);
    ok("cuDevicePrimaryCtxRelease_v2", device);
    check("end", ledger(device) == lent_bytes_[device] && truth(device) == lent_bytes_[device]);
  }
  kill(lent_.pid, SIGKILL);
  waitpid(lent_.pid, nullptr, 0);
}

void Trace::check(const char* what, bool good) {
  if (good) return;
  for (int device = 0; device < kDevices; ++device) {
    std::printf("device %d: region %llu, driver %llu, limit %llu\n", device,
                static_cast<unsigned long long>(ledger(device)),
                static_cast<unsigned long long>(truth(device)), static_cast<unsigned long long>(limit_));
  }
  std::printf("step %llu: wrong after %s\n", static_cast<unsigned long long>(calls_), what);
  std::exit(1);
}

}  // namespace gpupool::limiter::test

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  using gpupool::limiter::test::kMib;
  gpupool::limiter::test::Trace trace(std::stoull(argv[1]), std::stoull(argv[3]) * kMib, argc > 4);
  trace.begin();
  for (auto steps = std::stoull(argv[2]); steps > 0; --steps) trace.step();
  trace.print();
  trace.end();
}
