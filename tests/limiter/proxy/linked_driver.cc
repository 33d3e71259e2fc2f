// SPDX-License-Identifier: Apache-2.0
// linked-driver: is linked with libcuda.so.1, as programs without the CUDA runtime are, and prints as
// find-driver does.
#include <dlfcn.h>

#include <iostream>
#include <string_view>

extern "C" int cuProfilerStart();

int main() {
  Dl_info place{};
  dladdr(reinterpret_cast<void*>(&cuProfilerStart), &place);
  const std::string_view file = place.dli_fname;
  std::cout << file.substr(file.rfind('/') + 1) << ' ' << cuProfilerStart() << '\n';
}
