// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/open_files.h"
#include "base/stop_signals.h"
#include "keeper.h"
#include "kube/config/rest_config.h"
#include "options.h"
#include "store/attempts.h"

namespace gpupool {
namespace {

base::Result<void> serve(const Options& options, const base::Log& log, const std::stop_token& stop) {
  base::SystemClock clock;
  auto config = kube::load_config({options.kubeconfig, ""}, clock);
  if (!config) return tl::unexpected<base::Error>(config.error());
  auto attempts = keeper::Attempts::open(options.data, options.limits, clock);
  if (!attempts) return tl::unexpected<base::Error>(attempts.error());
  return Keeper(options, std::move(*config), std::move(*attempts), clock, log).run(stop);
}

int run(int argc, char** argv, const std::stop_token& stop) {
  const auto read = read_options(argc, argv);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const auto& options = std::get<Options>(read);
  base::LogLevel level{};
  if (!base::parse_log_level(options.log_level, level)) {
    std::fprintf(stderr, "gpupool-keeper: --log-level is debug, info, warning or error\n");
    return 2;
  }
  base::allow_many_open_files();  // each writer needs two
  const base::Log log(level);
  const auto done = serve(options, log, stop);
  if (done) return 0;
  log.error("cannot serve", {{"error", done.error().message}});
  return 1;
}

}  // namespace
}  // namespace gpupool

int main(int argc, char** argv) {
  std::stop_source stop;
  const gpupool::base::StopSignals signals(stop);
  return gpupool::run(argc, argv, stop.get_token());
}
