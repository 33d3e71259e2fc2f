// SPDX-License-Identifier: Apache-2.0
// time-calls LIBRARY: nanoseconds of one call of a function that only returns: the least of many rounds.
// time-calls --exec LIBRARIES ROUNDS: how many microseconds longer a program that does nothing takes with
// these preloaded, by the medians of two series in turns; then the same for one without. First processor
// time, which others on the machine hardly change, then time.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/resource.h>
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

struct Times {
  std::vector<double> processor, clock;  // microseconds
};

double microseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

void exec_once(const std::string& preload, Times& times) {
  std::string variable = "LD_PRELOAD=" + preload;
  std::string program = "/bin/true";
  char* const environment[] = {variable.data(), nullptr};
  char* const arguments[] = {program.data(), nullptr};
  const Clock::time_point begin = Clock::now();
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environment) != 0) {
    return;
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  times.clock.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  times.processor.push_back(microseconds(used.ru_utime) + microseconds(used.ru_stime));
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
  Times with;
  Times without;
  for (int round = 0; round < std::stoi(argv[3]); ++round) {
    exec_once(argv[2], with);
    exec_once("", without);
  }
  std::cout << median(with.processor) - median(without.processor) << ' ' << median(without.processor) << ' '
            << median(with.clock) - median(without.clock) << ' ' << median(without.clock) << '\n';
}
