// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "launcher/options.h"
#include "launcher/worker_env.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace launcher = gpupool::launcher;

// Arguments, a line each.
void fuzz_launcher_options(std::string_view input) {
  const auto arguments = gpupool::fuzz::split(input, '\n');
  const int bytes = launcher::report_options(arguments).result_bytes;
  require(bytes >= launcher::kMinResultBytes && bytes <= launcher::kMaxResultBytes,
          "a result has a size it can have");
  const auto options = launcher::parse_run(arguments);
  if (!options) return require(!options.error().empty(), "an error says why");
  require(options->node_rank >= 0 && options->node_rank < options->nodes, "a rank is one of the nodes'");
  require(options->master_port >= 1 && options->master_port <= 65535, "a port is a port");
  require(!options->command.empty(), "there is something to run");
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : launcher::worker_environment(*options)) {
    require(given.emplace(name, value).second, "a variable is given once");
  }
  require(std::stoll(given.at("RANK")) < std::stoll(given.at("WORLD_SIZE")),
          "a rank is below the world's size");
  const auto merged =
      launcher::merged_environment({"RANK=7", "HOME=/"}, launcher::worker_environment(*options));
  require(merged.size() == given.size() + 1, "ours take the place of the same name");
}
