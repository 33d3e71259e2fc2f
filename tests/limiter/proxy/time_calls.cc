// SPDX-License-Identifier: Apache-2.0
// time-calls LIBRARY: nanoseconds of one call of a function that only returns: the least of many rounds.
// time-calls --exec LIBRARIES ROUNDS: how many microseconds longer a program that does nothing takes with
// these preloaded, by the medians of two series in turns.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_of_call(const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  auto* const volatile function = reinterpret_cast<int (*)()>(dlsym(library, "cuProfilerStart"));
  constexpr int kCalls = 200000;
  double least = 1e9;
  for (int round = 0; round < 50; ++round) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) {
      function();
    }
    least = std::min(least, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kCalls);
  }
  return least;
}

double microseconds_of_exec(const std::string& preload) {
  std::string variable = "LD_PRELOAD=" + preload;
  std::string program = "/bin/true";
  char* const environment[] = {variable.data(), nullptr};
  char* const arguments[] = {program.data(), nullptr};
  const Clock::time_point begin = Clock::now();
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environment) != 0) {
    return 1e9;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    std::cout << nanoseconds_of_call(argv[1]) << '\n';
    return 0;
  }
  if (argc != 4) {
    return 2;
  }
  std::vector<double> with;
  std::vector<double> without;
  for (int round = 0; round < std::stoi(argv[3]); ++round) {
    with.push_back(microseconds_of_exec(argv[2]));
    without.push_back(microseconds_of_exec(""));
  }
  std::cout << median(with) - median(without) << ' ' << median(without) << '\n';
}
