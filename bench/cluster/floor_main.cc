// SPDX-License-Identifier: Apache-2.0
// Serves jobs with as few writes as the protocol allows, until SIGTERM. Prints "ready" on stdout:
// bench_floor --kubeconfig FILE [--workers N (4)] [--gpu-resource NAME] [--watch-nodes 1: for lost nodes].
#include <cstdio>

#include "bench/cluster/floor.h"
#include "bench/support/arguments.h"

int main(int argc, char** argv) {
  using namespace gpupool;
  const bench::Arguments arguments(argc, argv);
  bench::block_signals();
  bench::Connection connection(arguments.text("kubeconfig"), "bench-floor");
  bench::Floor floor(connection, arguments.text("gpu-resource", "nvidia.com/gpu"),
                     static_cast<int>(arguments.number("workers", 4)),
                     arguments.number("watch-nodes", 0) != 0);
  floor.start();
  std::puts("ready");
  std::fflush(stdout);
  bench::wait_for_signal();
}
