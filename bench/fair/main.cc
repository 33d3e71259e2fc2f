// SPDX-License-Identifier: Apache-2.0
// Simulates policies of a queue on one workload: build/bin/bench_fair --help.
#include <cstdio>
#include <exception>

#include "bench/fair/engine/engine.h"
#include "bench/fair/options.h"
#include "bench/fair/output.h"
#include "bench/fair/policies/policies.h"
#include "bench/fair/workload/declare.h"
#include "bench/fair/workload/twin.h"

namespace {

using namespace gpupool;
using namespace gpupool::bench::fair;

base::Result<Workload> load(const Options& options) {
  const auto seed = static_cast<std::uint64_t>(options.seed);
  if (options.trace.files.empty())
    return declare(make_twin(options.gpus, options.days, options.load, seed), seed);
  auto traced = read_traces(options.trace, options.gpus);
  if (!traced) return traced;
  return declare(*std::move(traced), seed);
}

int run(const Options& options) {
  const auto workload = load(options);
  if (!workload) {
    std::fprintf(stderr, "bench_fair: %s\n", workload.error().message.c_str());
    return 1;
  }
  std::vector<Played> played;
  for (const auto& name : options.policies) {
    const auto policy = make_policy(name, *workload, options.settings);
    try {
      played.push_back(describe(name, *workload, simulate(*workload, options.settings, *policy)));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_fair: %s: %s\n", name.c_str(), error.what());
      return 1;
    }
  }
  print(*workload, played);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (const auto* code = std::get_if<int>(&options)) return *code;
  return run(std::get<Options>(options));
}
