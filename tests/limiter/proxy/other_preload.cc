// SPDX-License-Identifier: Apache-2.0
// Another preload library, as profilers and tracers are: it wraps one function of the driver and two of libc,
// and finds the next ones by dlsym(RTLD_NEXT). It says so at the program's end.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>

namespace {

std::atomic<int> starts{0};
std::atomic<int> opens{0};

}  // namespace

extern "C" {

int cuProfilerStart() {
  ++starts;
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "cuProfilerStart"))();
}

int open(const char* path, int flags, ...) {
  ++opens;
  return reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, "open"))(path, flags, 0600);
}

void* dlopen(const char* path, int flags) {
  return reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"))(path, flags);
}

}  // extern "C"

namespace {

__attribute__((destructor)) void say() {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "other-preload %d %d\n", starts.load(),
                                 opens.load() > 0 ? 1 : 0);
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), static_cast<std::size_t>(size));
}

}  // namespace
