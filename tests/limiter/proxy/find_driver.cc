// SPDX-License-Identifier: Apache-2.0
// find-driver WAY [PATH]: finds a function of libcuda.so.1 as programs do, and prints where it is and what it
// returns.
#include <dlfcn.h>

#include <iostream>
#include <string>
#include <string_view>

namespace {

void* open_driver(const std::string& way, const char* path) {
  if (way == "dlopen") return dlopen("libcuda.so.1", RTLD_NOW);
  if (way == "deepbind") return dlopen("libcuda.so.1", RTLD_NOW | RTLD_DEEPBIND);
  if (way == "noload") return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (way == "unversioned") return dlopen("libcuda.so", RTLD_LAZY | RTLD_GLOBAL);
  if (way == "path") return dlopen(path, RTLD_NOW);
  if (way == "default") return dlopen(nullptr, RTLD_NOW);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  void* const library = open_driver(way, argc > 2 ? argv[2] : "");
  if (library == nullptr) {
    const char* const error = dlerror();
    std::cout << "none " << (error == nullptr ? "" : error) << "\n";
    return 0;
  }
  void* const function = dlsym(library, "cuProfilerStart");
  Dl_info place{};
  if (function == nullptr || dladdr(function, &place) == 0) {
    std::cout << "no function\n";
    return 0;
  }
  const std::string_view file = place.dli_fname;
  std::cout << file.substr(file.rfind('/') + 1) << ' ' << reinterpret_cast<int (*)()>(function)() << '\n';
}
