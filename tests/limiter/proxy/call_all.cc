// SPDX-License-Identifier: Apache-2.0
// call-all LIBRARY: reads names, calls each function of the library without arguments, and prints NAME RESULT
// FILE, FILE being where the function is. NAME - is printed for a function that is not there. A name with `!`
// before it is not called.
#include <dlfcn.h>

#include <iostream>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (library == nullptr) {
    std::cerr << (argc == 2 ? dlerror() : "usage: call-all LIBRARY") << "\n";
    return 1;
  }
  for (std::string name; std::cin >> name;) {
    const bool called = name[0] != '!';
    name.erase(0, called ? 0 : 1);
    void* const function = dlsym(library, name.c_str());
    Dl_info place{};
    if (function == nullptr || dladdr(function, &place) == 0) {
      std::cout << name << " -\n";
      continue;
    }
    const std::string_view file = place.dli_fname;
    const int result = called ? reinterpret_cast<int (*)()>(function)() : 0;
    std::cout << name << ' ' << result << ' ' << file.substr(file.rfind('/') + 1) << '\n';
  }
}
