// SPDX-License-Identifier: Apache-2.0
// memory-threads SEED ROUNDS: eight threads allocate, free, and make and end contexts at once, in a slice
// that is too small for all. At the end of each round, when all wait, the region must say what the driver's
// state file says. The driver gives handles and pointers of one thread to another at once.
#include <algorithm>
#include <barrier>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/limiter/cuda/cuda_program.h"

namespace gpupool::limiter::test {
namespace {

constexpr unsigned kThreads = 8;
constexpr int kCalls = 40;

class Worker {
 public:
  explicit Worker(std::uint64_t seed) : random_(seed) {}

  // Everything that is made is given back.
  void round() {
    CUcontext context = nullptr;
    const int device = static_cast<int>(below(2));
    const bool primary = below(2) == 0;
    const int result = primary         ? cu("cuDevicePrimaryCtxRetain", &context, device)
                       : below(3) == 0 ? make_green(context, device)
                                       : cu("cuCtxCreate_v2", &context, 0U, device);
    if (result != 0) return;
    cu("cuCtxSetCurrent", context);
    for (int i = 0; i < kCalls; ++i) call(device);
    for (const CUdeviceptr pointer : pointers_) {
      if (primary || below(2) == 0) cu("cuMemFree_v2", pointer);  // else it goes with the context
    }
    pointers_.clear();
    cu("cuCtxSynchronize");
    cu("cuCtxSetCurrent", CUcontext{});
    if (primary) {
      cu("cuDevicePrimaryCtxRelease_v2", device);
    } else if (cu("cuCtxDestroy_v2", context) != 0) {
      cu("cuGreenCtxDestroy", context);
    }
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  static int make_green(CUcontext& context, int device) {
    const int result = cu("cuGreenCtxCreate", &context, static_cast<void*>(nullptr), device, 1U);
    return result == 0 ? cu("cuCtxFromGreenCtx", &context, context) : result;
  }

  void call(int device) {
    CUdeviceptr pointer = 0;
    void* array = nullptr;
    const ArrayDescriptor flat{1 + below(1024), 1 + below(1024), 0x20, 1};
    switch (below(7)) {
      case 0:
        if (cu("cuMemAllocAsync", &pointer, 1 + below(4 * kMib), CUstream{}) == 0)
          cu("cuMemFreeAsync", pointer, CUstream{});
        break;
      case 1:
        if (cu("cuArrayCreate_v2", &array, &flat) == 0) cu("cuArrayDestroy", array);
        break;
      case 2:
        physical(device);
        break;
      case 3:
        if (!pointers_.empty()) {
          cu("cuMemFree_v2", pointers_.back());
          pointers_.pop_back();
        }
        break;
      case 4:
        cu("cuStreamSynchronize", CUstream{});
        break;
      default:
        if (cu("cuMemAlloc_v2", &pointer, below(2) == 0 ? 1 + below(kMib) : 1 + below(20 * kMib)) == 0)
          pointers_.push_back(pointer);
    }
  }

  static void physical(int device) {
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr place = 0;
    MemAllocationProp prop{};
    prop.type = 1;
    prop.location = {kLocationDevice, device};
    if (cu("cuMemCreate", &handle, std::size_t{4 * kMib}, &prop, 0ULL) != 0) return;
    cu("cuMemAddressReserve", &place, std::size_t{4 * kMib}, std::size_t{0}, CUdeviceptr{0}, 0ULL);
    cu("cuMemMap", place, std::size_t{4 * kMib}, std::size_t{0}, handle, 0ULL);
    cu("cuMemRelease", handle);
    cu("cuMemUnmap", place, std::size_t{4 * kMib});
    cu("cuMemAddressFree", place, std::size_t{4 * kMib});
  }

  std::mt19937_64 random_;
  std::vector<CUdeviceptr> pointers_;
};

// What pools have kept goes with a wait in each device.
void synchronize() {
  for (int device = 0; device < 2; ++device) {
    CUcontext context = nullptr;
    if (cu("cuDevicePrimaryCtxRetain", &context, device) != 0) std::exit(3);
    cu("cuCtxSetCurrent", context);
    cu("cuCtxSynchronize");
    cu("cuCtxSetCurrent", CUcontext{});
    cu("cuDevicePrimaryCtxRelease_v2", device);
  }
}

void check(int round) {
  synchronize();
  for (int device = 0; device < 2; ++device) {
    const unsigned long long region_says = ledger(device);
    const unsigned long long driver_says = truth(device);
    if (region_says == 0 && driver_says == 0) continue;
    std::printf("wrong in round %d: device %d: region %llu, driver %llu\n", round, device, region_says,
                driver_says);
    std::exit(1);
  }
}

}  // namespace
}  // namespace gpupool::limiter::test

int main(int argc, char** argv) {
  using namespace gpupool::limiter::test;
  if (argc != 3) return 2;
  const std::uint64_t seed = std::stoull(argv[1]);
  const int rounds = std::stoi(argv[2]);
  cu("cuInit", 0U);
  int round = 0;
  std::barrier together(kThreads, [&]() noexcept { check(round++); });
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Worker worker(seed * kThreads + i);
      for (int turn = 0; turn < rounds; ++turn) {
        worker.round();
        together.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d rounds\n", round);
}
