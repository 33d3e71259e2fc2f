// SPDX-License-Identifier: Apache-2.0
// Plays the scheduler and the kubelets of a cluster without machines, until SIGTERM:
// bench_player --kubeconfig FILE [--run-ms N (500; -1: until deleted)] [--threads N (8)]
//   [--shared 1: in a sharing pool].
#include "bench/cluster/player.h"
#include "bench/support/arguments.h"

int main(int argc, char** argv) {
  using namespace gpupool;
  const bench::Arguments arguments(argc, argv);
  bench::block_signals();
  bench::Connection connection(arguments.text("kubeconfig"), "bench-player");
  const auto run = arguments.number("run-ms", 500);
  bench::Player player(connection,
                       run < 0 ? std::nullopt : std::optional<base::Duration>(std::chrono::milliseconds(run)),
                       static_cast<int>(arguments.number("threads", 8)), arguments.number("shared", 0) != 0);
  player.start();
  bench::wait_for_signal();
}
