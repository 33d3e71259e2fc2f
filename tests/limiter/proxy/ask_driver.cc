// SPDX-License-Identifier: Apache-2.0
// ask-driver LIBRARY NAMES: asks cuGetProcAddress and cuGetProcAddress_v2 of a libcuda for every function of
// the file NAMES, and for these names without what tells the forms of a function apart, of all versions of
// CUDA and with the flags 0, 1 and 2. A line for each answer: FORM NAME VERSION FLAGS RESULT STATUS FUNCTION
// FILE. FUNCTION is the exported name of what was returned and FILE the library that it lies in; `-` for
// nullptr and `?` for what is not exported. Needs no GPU.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::array kVersions = {1000,  2000,  2010,  2020,  2030,  3000,  3010,  3020,  4000,  4010,
                                  4020,  5000,  5050,  6000,  6050,  7000,  7050,  8000,  9000,  9010,
                                  9020,  10000, 10010, 10020, 11000, 11010, 11020, 11030, 11040, 11050,
                                  11060, 11070, 11080, 12000, 12010, 12020, 12030, 12040, 12050, 12060,
                                  12080, 12090, 13000, 13010, 13020, 13030, 13040, 99000};
constexpr unsigned kNoStatus = 9;

using Ask = int (*)(const char* name, void** function, int version, std::uint64_t flags);
using AskV2 = int (*)(const char* name, void** function, int version, std::uint64_t flags, unsigned* status);

std::vector<std::string> read_names(const char* path) {
  std::vector<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') {
      names.push_back(line);
    }
  }
  return names;
}

// The names that programs ask for: without what tells the forms of a function apart.
std::set<std::string> base_names(const std::vector<std::string>& exported) {
  std::set<std::string> bases(exported.begin(), exported.end());
  for (std::string name : exported) {
    for (const char* suffix : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"}) {
      if (name.ends_with(suffix)) {
        name.resize(name.size() - std::string(suffix).size());
        bases.insert(name);
      }
    }
  }
  bases.insert("cuNoSuchFunction");
  return bases;
}

std::string describe(const void* function) {
  if (function == nullptr) {
    return "- -";
  }
  Dl_info place{};
  if (dladdr(function, &place) == 0) {
    return "? ?";
  }
  const std::string_view file = place.dli_fname;
  const bool exact = place.dli_sname != nullptr && place.dli_saddr == function;
  return std::string(exact ? place.dli_sname : "?") + ' ' + std::string(file.substr(file.rfind('/') + 1));
}

void print_answer(char form, const std::string& name, int version, std::uint64_t flags, int result,
                  unsigned status, const void* function) {
  std::cout << form << ' ' << name << ' ' << version << ' ' << flags << ' ' << result << ' ' << status << ' '
            << describe(function) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: ask-driver LIBRARY NAMES\n";
    return 2;
  }
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::cerr << dlerror() << "\n";
    return 1;
  }
  const auto ask = reinterpret_cast<Ask>(dlsym(library, "cuGetProcAddress"));
  const auto ask_v2 = reinterpret_cast<AskV2>(dlsym(library, "cuGetProcAddress_v2"));
  for (const std::string& name : base_names(read_names(argv[2]))) {
    for (const int version : kVersions) {
      for (const std::uint64_t flags : {0UL, 1UL, 2UL}) {
        void* function = nullptr;
        int result = ask(name.c_str(), &function, version, flags);
        print_answer('1', name, version, flags, result, kNoStatus, function);
        if (ask_v2 != nullptr) {
          function = nullptr;
          unsigned status = kNoStatus;
          result = ask_v2(name.c_str(), &function, version, flags, &status);
          print_answer('2', name, version, flags, result, status, function);
        }
      }
    }
  }
  return 0;
}
