// SPDX-License-Identifier: Apache-2.0
// memory-cases CASE [ARGUMENT]: what one program does with memory. Each prints what its test compares; see
// test_memory.py.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "tests/limiter/cuda/cuda_program.h"

namespace gpupool::limiter::test {
namespace {

using Number = unsigned long long;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("wrong: %s; region %llu, driver %llu\n", what, Number{ledger(0)}, Number{truth(0)});
  std::exit(1);
}

// False: refused.
bool start_on(int device) {
  CUcontext context = nullptr;
  cu("cuInit", 0U);
  return cu("cuDevicePrimaryCtxRetain", &context, device) == 0 && cu("cuCtxSetCurrent", context) == 0;
}

CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr pointer = 0;
  return cu("cuMemAlloc_v2", &pointer, bytes) == 0 ? pointer : 0;
}

// As much as there is, in pieces.
std::vector<CUdeviceptr> fill(std::size_t piece) {
  std::vector<CUdeviceptr> pointers;
  while (const CUdeviceptr pointer = allocate(piece)) pointers.push_back(pointer);
  return pointers;
}

// MiB: CUDA's free and total, by both widths and as the device's total; NVML's free, total and used, by both
// forms.
void print_sizes() {
  std::array<std::size_t, 3> sizes{};
  std::array<unsigned, 2> old{};
  cu("cuMemGetInfo_v2", sizes.data(), &sizes[1]);
  cu("cuDeviceTotalMem_v2", &sizes[2], 0);
  cu("cuMemGetInfo", old.data(), &old[1]);
  expect(sizes[0] == old[0] && sizes[1] == old[1], "the old form of cuMemGetInfo");
  struct {
    std::uint64_t total, free, used;
  } nvml{};
  struct {
    unsigned version;
    std::uint64_t total, reserved, free, used;
  } nvml2{(2U << 24U) | 40U, 0, 0, 0, 0};
  void* const library = need(dlopen("libnvidia-ml.so.1", RTLD_NOW), "NVML");
  void* handle = nullptr;
  reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"))();
  reinterpret_cast<int (*)(const char*, void**)>(dlsym(library, "nvmlDeviceGetHandleByUUID"))(
      uuid_of(0).c_str(), &handle);
  reinterpret_cast<int (*)(void*, void*)>(dlsym(library, "nvmlDeviceGetMemoryInfo"))(handle, &nvml);
  reinterpret_cast<int (*)(void*, void*)>(dlsym(library, "nvmlDeviceGetMemoryInfo_v2"))(handle, &nvml2);
  expect(nvml.total == nvml2.total && nvml.free == nvml2.free && nvml.used == nvml2.used,
         "NVML's second form");
  std::printf("%zu %zu %zu %llu %llu %llu\n", sizes[0] / kMib, sizes[1] / kMib, sizes[2] / kMib,
              Number{nvml.free / kMib}, Number{nvml.total / kMib}, Number{nvml.used / kMib});
}

void sizes() {
  start_on(0);
  print_sizes();
  const CUdeviceptr pointer = allocate(100 * kMib);
  print_sizes();
  cu("cuMemFree_v2", pointer);
  print_sizes();
}

// Code is loaded where there is no room for it, and counted when it is measured.
void over() {
  start_on(0);
  fill(2 * kMib);
  for (int i = 0; i < 8; ++i) {
    CUmodule module = nullptr;
    expect(cu("cuModuleLoadData", &module, static_cast<const void*>("image")) == 0, "a module");
  }
  const timespec second{1, 100'000'000};  // modules are measured once in a second
  nanosleep(&second, nullptr);
  expect(allocate(2 * kMib) == 0 && allocate(1) == 0, "no room");
  expect(ledger(0) == truth(0), "measured");
  std::printf("%llu\n", Number{ledger(0) / kMib});
  print_sizes();
}

// How many small allocations go into the block of the first when there is no room for another block.
void small() {
  start_on(0);
  allocate(1024);
  fill(2 * kMib);
  const std::uint64_t full = ledger(0);
  const std::vector<CUdeviceptr> more = fill(1024);
  expect(ledger(0) == full && truth(0) == full, "small allocations");
  std::printf("%zu\n", more.size());
  cu("cuMemFree_v2", more.back());
  expect(ledger(0) == full && allocate(1024) != 0 && allocate(1024) == 0, "the place of a freed one");
}

// A refusal is counted once, and what is granted in another way is none.
void refusals() {
  start_on(0);
  allocate(1024);
  const auto counted = [] { return region().devices[0].refusals.load(); };
  const auto refused = [&](const char* what, auto call) {
    const std::uint64_t before = counted();
    expect(call() == kOutOfMemory && counted() == before + 1, what);
  };
  const auto granted = [&](const char* what, auto call) {
    const std::uint64_t before = counted();
    expect(call() == kSuccess && counted() == before, what);
  };
  CUdeviceptr pointer = 0;
  CUcontext context = nullptr;
  CUmemGenericAllocationHandle handle = 0;
  MemAllocationProp prop{};
  prop.type = 1;
  prop.location = {kLocationDevice, 0};
  const ArrayDescriptor flat{1024, 1024, 0x20, 1};
  fill(2 * kMib);
  granted("in a known block", [&] { return cu("cuMemAlloc_v2", &pointer, std::size_t{1024}); });
  refused("cuMemAlloc_v2", [&] { return cu("cuMemAlloc_v2", &pointer, std::size_t{2 * kMib}); });
  refused("cuMemAllocManaged", [&] { return cu("cuMemAllocManaged", &pointer, std::size_t{2 * kMib}, 1U); });
  refused("cuMemAllocAsync", [&] { return cu("cuMemAllocAsync", &pointer, std::size_t{1}, CUstream{}); });
  refused("cuArrayCreate_v2", [&] { return cu("cuArrayCreate_v2", &context, &flat); });
  refused("cuMemCreate", [&] { return cu("cuMemCreate", &handle, std::size_t{2 * kMib}, &prop, 0ULL); });
  refused("cuCtxCreate_v2", [&] { return cu("cuCtxCreate_v2", &context, 0U, 0); });
  fill(1024);
  refused("a small one", [&] { return cu("cuMemAlloc_v2", &pointer, std::size_t{1024}); });
  std::puts("once");
}

CUmemGenericAllocationHandle create(std::size_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  MemAllocationProp prop{};
  prop.type = 1;
  prop.location = {kLocationDevice, 0};
  expect(cu("cuMemCreate", &handle, bytes, &prop, 0ULL) == 0, "cuMemCreate");
  return handle;
}

// The orders in which NCCL and vLLM give up physical memory.
void orders() {
  start_on(0);
  const std::uint64_t before = ledger(0);
  constexpr std::size_t kBytes = 64 * kMib;
  CUdeviceptr at = 0;
  expect(cu("cuMemAddressReserve", &at, kBytes, std::size_t{0}, CUdeviceptr{0}, 0ULL) == 0, "addresses");
  CUmemGenericAllocationHandle again = 0;
  const CUmemGenericAllocationHandle handle = create(kBytes);
  cu("cuMemMap", at, kBytes, std::size_t{0}, handle, 0ULL);
  expect(cu("cuMemRetainAllocationHandle", &again, reinterpret_cast<void*>(at + 4096)) == 0, "retain");
  cu("cuMemRelease", again);
  cu("cuMemUnmap", at, kBytes);
  expect(ledger(0) == before + kBytes && truth(0) == ledger(0), "before the last release");
  cu("cuMemRelease", handle);
  expect(ledger(0) == before && truth(0) == before, "NCCL");
  // vLLM: what sleeps is unmapped and released, and comes back at the same address.
  for (int nights = 0; nights < 3; ++nights) {
    const CUmemGenericAllocationHandle other = create(kBytes);
    cu("cuMemMap", at, kBytes, std::size_t{0}, other, 0ULL);
    expect(ledger(0) == before + kBytes && truth(0) == ledger(0), "awake");
    if (nights % 2 == 0) {
      cu("cuMemUnmap", at, kBytes);
      expect(ledger(0) == before + kBytes && truth(0) == ledger(0), "a handle without mappings");
      cu("cuMemRelease", other);
    } else {
      cu("cuMemRelease", other);
      expect(ledger(0) == before + kBytes && truth(0) == ledger(0), "a mapping without handles");
      cu("cuMemUnmap", at, kBytes);
    }
    expect(ledger(0) == before && truth(0) == before, "asleep");
  }
  std::puts("exact");
}

// A graph whose launch frees what the one before has left needs nothing more in a full slice; when its memory
// is the program's again, it does.
void relaunch() {
  start_on(0);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  MemAllocNodeParams params{};
  params.pool_props.alloc_type = 1;
  params.pool_props.location = {kLocationDevice, 0};
  params.bytesize = 10 * kMib;
  cu("cuGraphCreate", &graph, 0U);
  cu("cuGraphAddMemAllocNode", &node, graph, static_cast<const CUgraphNode*>(nullptr), std::size_t{0},
     &params);
  expect(cu("cuGraphInstantiateWithFlags", &exec, graph, 1ULL) == 0, "cuGraphInstantiateWithFlags");
  expect(cu("cuGraphLaunch", exec, CUstream{}) == 0, "the first launch");
  fill(2 * kMib);
  expect(cu("cuGraphLaunch", exec, CUstream{}) == 0 && ledger(0) == truth(0), "a launch in a full slice");
  expect(cu("cuMemFree_v2", params.dptr) == 0 && cu("cuDeviceGraphMemTrim", 0) == 0, "free and trim");
  expect(fill(2 * kMib).size() == 5 && ledger(0) == truth(0), "what the graph had");
  expect(cu("cuGraphLaunch", exec, CUstream{}) == kOutOfMemory && ledger(0) == truth(0),
         "a launch without room");
  std::puts("exact");
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Children of a process that uses CUDA, as PyTorch's loaders of data are; then a new program in its place.
void forks(char** argv) {
  start_on(0);
  const CUdeviceptr pointer = allocate(100 * kMib);
  const std::uint64_t before = ledger(0);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      // It has nothing: a free of the parent's pointers takes nothing off, and its end neither.
      cu("cuMemFree_v2", pointer);
      _exit(ledger(0) == before && allocate(kMib) == 0 && ledger(0) == before ? 0 : 1);
    }
    expect(wait_for(child) == 0 && ledger(0) == before, "a child");
  }
  execl("/proc/self/exe", argv[0], "fill", nullptr);
}

void fill_and_print() {
  start_on(0);
  const std::vector<CUdeviceptr> pointers = fill(4 * kMib);
  expect(ledger(0) == truth(0), "the sum");
  std::printf("%zu\n", pointers.size() * 4);
}

// Three processes fill one slice; one is killed, and what it had goes to the others.
void ranks() {
  std::array<pid_t, 3> children{};
  std::array<int, 2> filled{};
  std::array<int, 2> start{};  // not one pipe for both: a rank may be faster than another by a whole step
  std::array<int, 2> again{};
  expect(pipe(filled.data()) == 0 && pipe(start.data()) == 0 && pipe(again.data()) == 0, "pipe");
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    start_on(0);
    char word = 0;
    std::uint64_t own = 0;
    expect(write(filled[1], &own, sizeof own) == sizeof own && read(start[0], &word, 1) == 1,
           "a rank's context");
    own = fill(4 * kMib).size();
    expect(write(filled[1], &own, sizeof own) == sizeof own && read(again[0], &word, 1) == 1, "a rank");
    own = fill(4 * kMib).size();
    expect(write(filled[1], &own, sizeof own) == sizeof own, "a rank");
    pause();
  }
  const auto read_one = [&] {
    std::uint64_t pieces = 0;
    expect(read(filled[0], &pieces, sizeof pieces) == sizeof pieces, "a rank's words");
    return pieces;
  };
  for (std::size_t i = 0; i < children.size(); ++i) read_one();
  expect(write(start[1], "xxx", 3) == 3, "begin");
  const std::uint64_t first = read_one() + read_one() + read_one();
  const std::uint64_t sum = ledger(0);
  kill(children[0], SIGKILL);
  wait_for(children[0]);
  expect(write(again[1], "xx", 2) == 2, "again");
  const std::uint64_t more = read_one() + read_one();
  std::printf("%llu %llu %s\n", Number{first * 4}, Number{sum / kMib}, more > 0 ? "more" : "nothing");
  for (const pid_t child : {children[1], children[2]}) {
    kill(child, SIGKILL);
    wait_for(child);
  }
}

// Holds so much, says so, and asks for more when it is told to; prints what came of it and how many
// milliseconds that took.
void ask(std::size_t hold_mib, std::size_t more_mib) {
  expect(start_on(0), "a context");
  const CUdeviceptr held = allocate(hold_mib * kMib);
  std::printf("%s\n", held != 0 ? "holds" : "refused");
  std::fflush(stdout);
  if (std::getchar() == 'f') {
    cu("cuMemFree_v2", held);
    std::puts("freed");
    std::fflush(stdout);
    std::getchar();
    return;
  }
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const CUdeviceptr more = allocate(more_mib * kMib);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const long ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1'000'000;
  std::printf("%s %ld\n", more != 0 ? "granted" : "refused", ms);
  std::fflush(stdout);
}

void state() {
  const bool started = start_on(0);
  const CUdeviceptr pointer = started ? allocate(4 * kMib) : 0;
  const int file = open(kRegionPath, O_RDONLY | O_CLOEXEC);
  std::printf("%s %s\n", started ? "context" : "none", pointer != 0 ? "granted" : "refused");
  if (file >= 0) std::printf("%u\n", region().state.load());
}

}  // namespace
}  // namespace gpupool::limiter::test

int main(int argc, char** argv) {
  using namespace gpupool::limiter::test;
  const std::string which = argc > 1 ? argv[1] : "";
  if (which == "sizes") sizes();
  if (which == "over") over();
  if (which == "small") small();
  if (which == "refusals") refusals();
  if (which == "orders") orders();
  if (which == "relaunch") relaunch();
  if (which == "forks") forks(argv);
  if (which == "fill") fill_and_print();
  if (which == "ranks") ranks();
  if (which == "ask" && argc == 4) ask(std::stoul(argv[2]), std::stoul(argv[3]));
  if (which == "state") state();
}
