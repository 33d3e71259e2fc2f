// SPDX-License-Identifier: Apache-2.0
#include "base/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace gpupool::base {

namespace {

// The fields of /proc/self/stat, with their numbers in proc(5). Fields 1 and 2 are not used.
struct Stat {
  double utime = 0;      // 14, ticks
  double stime = 0;      // 15, ticks
  double starttime = 0;  // 22, ticks since boot
  double vsize = 0;      // 23, bytes
  double rss = 0;        // 24, pages
};

Stat read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // Field 2, the program's name, is in parentheses and may contain any character.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  Stat stat;
  std::string word;
  for (int number = 3; number <= 24 && fields >> word; ++number) {
    double* const target = number == 14   ? &stat.utime
                           : number == 15 ? &stat.stime
                           : number == 22 ? &stat.starttime
                           : number == 23 ? &stat.vsize
                           : number == 24 ? &stat.rss
                                          : nullptr;
    if (target) std::istringstream(word) >> *target;
  }
  return stat;
}

double boot_time() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

double count_open_fds() {
  std::error_code failed;
  std::filesystem::directory_iterator entry("/proc/self/fd", failed);
  double count = -1;  // do not count the descriptor that reads the directory
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) ++count;
  return count < 0 ? 0 : count;
}

}  // namespace

ProcessStats read_process_stats() {
  const Stat stat = read_stat();
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  ProcessStats stats;
  stats.cpu_seconds = (stat.utime + stat.stime) / ticks;
  stats.resident_bytes = stat.rss * static_cast<double>(::sysconf(_SC_PAGESIZE));
  stats.virtual_bytes = stat.vsize;
  stats.start_time_seconds = boot_time() + stat.starttime / ticks;
  stats.open_fds = count_open_fds();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_fds = static_cast<double>(limit.rlim_cur);
  return stats;
}

}  // namespace gpupool::base
