// SPDX-License-Identifier: Apache-2.0
// take-memory WAY [PATH]: finds the driver in this way, takes memory of the first GPU in steps of 50 MiB
// until it gets no more, prints how many MiB it has and the last result, and keeps them until its standard
// input ends. Ways: dlopen, unversioned, deepbind, namespace (one of its own), path (of PATH), walk (the
// loader's tables), and managed (dlopen, and managed memory).
#include <dlfcn.h>

#include <iostream>
#include <limits>
#include <string>

#include "tests/limiter/escapes/symbol_walk.h"

namespace {

constexpr std::size_t kStep = 50;  // MiB
constexpr unsigned kAttachGlobal = 1;

void* open_driver(const std::string& way, const char* path) {
  if (way == "unversioned") return dlopen("libcuda.so", RTLD_NOW);
  if (way == "deepbind") return dlopen("libcuda.so.1", RTLD_NOW | RTLD_DEEPBIND);
  if (way == "namespace") return dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
  if (way == "path") return dlopen(path, RTLD_NOW);
  return dlopen("libcuda.so.1", RTLD_NOW);
}

class Driver {
 public:
  Driver(const std::string& way, const char* path)
      : walks_(way == "walk"), library_(open_driver(way, path)) {}
  bool found() const { return library_ != nullptr; }

  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    void* const function = walks_ ? walk_to_symbol(name) : dlsym(library_, name);
    return function == nullptr ? -1 : reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  }

 private:
  bool walks_;
  void* library_;
};

int start(const Driver& driver) {
  void* context = nullptr;
  int result = driver.call("cuInit", 0U);
  if (result == 0) result = driver.call("cuDevicePrimaryCtxRetain", &context, 0);
  return result == 0 ? driver.call("cuCtxSetCurrent", context) : result;
}

int take(const Driver& driver, bool managed) {
  unsigned long long pointer = 0;
  const std::size_t bytes = kStep << 20U;
  return managed ? driver.call("cuMemAllocManaged", &pointer, bytes, kAttachGlobal)
                 : driver.call("cuMemAlloc_v2", &pointer, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  const Driver driver(way, argc > 2 ? argv[2] : "");
  if (!driver.found()) {
    const char* const error = dlerror();
    std::cerr << "take-memory: " << (error == nullptr ? "no driver" : error) << "\n";
    return 1;
  }
  std::size_t taken = 0;
  int result = start(driver);
  while (result == 0 && (result = take(driver, way == "managed")) == 0) taken += kStep;
  std::cout << taken << ' ' << result << std::endl;  // NOLINT(performance-avoid-endl): somebody waits for it
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  return 0;
}
