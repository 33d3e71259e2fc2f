// SPDX-License-Identifier: Apache-2.0
#include "bench/support/machine.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "bench/support/results.h"

namespace gpupool::bench {
namespace {

// proc(5), /proc/stat: user, nice, system, idle, iowait, irq, softirq.
double cpu_s() {
  std::ifstream in("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
  in >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq;
  return (user + nice + system + irq + softirq) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

BusyCores::BusyCores() : cpu_s_(cpu_s()) {}

double BusyCores::since() const { return (cpu_s() - cpu_s_) / seconds_since(began_); }

}  // namespace gpupool::bench
