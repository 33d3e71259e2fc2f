// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string_view>

#include "base/stop_signals.h"
#include "bills/commands.h"
#include "command/program.h"
#include "general/complete.h"
#include "general/doctor.h"
#include "general/manual.h"
#include "general/version.h"
#include "jobs/commands.h"
#include "logs/logs_command.h"
#include "net/curl_transport.h"
#include "nodes/commands.h"
#include "page/web_command.h"
#include "results/results_command.h"
#include "submit/run.h"
#include "sweeps/commands.h"

namespace gpupool {
namespace {

// In the order of the help.
void add_commands(command::Registry& registry) {
  static constexpr char kJobs[] = "Jobs";
  for (const auto make :
       {submit::make_run, jobs::make_list, jobs::make_queue, jobs::make_describe, jobs::make_why,
        jobs::make_wait, logs::make_logs, results::make_results, jobs::make_cancel, jobs::make_suspend,
        jobs::make_resume, jobs::make_retry, jobs::make_priority, jobs::make_shell, bills::make_bill}) {
    registry.add(kJobs, make());
  }
  registry.add("Sweeps", sweeps::make_sweep());
  static constexpr char kNodes[] = "GPUs and nodes";
  for (const auto make : {nodes::make_top, nodes::make_drain, nodes::make_undrain, bills::make_payout})
    registry.add(kNodes, make());
  registry.add(kNodes, page::make_web(GPUPOOL_VERSION));
  static constexpr char kProgram[] = "About this program";
  registry.add(kProgram, general::make_doctor(GPUPOOL_VERSION));
  registry.add(kProgram, general::make_completion());
  registry.add(kProgram, general::make_version(GPUPOOL_VERSION));
  registry.add(kProgram, general::make_manual(GPUPOOL_VERSION));
}

// kubectl completes by a program of this name, a link to this one; completion scripts by a first word.
bool is_asked_to_complete(int argc, char** argv) {
  const std::string_view self = argc > 0 ? argv[0] : "";
  return self.substr(self.rfind('/') + 1) == "kubectl_complete-gpupool";
}

}  // namespace
}  // namespace gpupool

int main(int argc, char** argv) {
  using namespace gpupool;
  std::ios::sync_with_stdio(false);
  std::stop_source stop;
  const base::StopSignals signals(stop);
  const net::CurlGlobal curl;
  base::SystemClock clock;
  command::Registry registry;
  add_commands(registry);

  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const bool first_word = !words.empty() && words.front() == "__complete";
  if (first_word || is_asked_to_complete(argc, argv)) {
    if (first_word) words.erase(words.begin());
    std::cout << general::completions(registry, words, clock) << std::flush;
    return 0;
  }
  const int code = command::run_program(registry, words,
                                        {std::cin, std::cout, std::cerr, screen::terminal_of(STDOUT_FILENO),
                                         isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1},
                                        clock, stop.get_token());
  std::cout.flush();
  if (std::cout.good()) return code;
  if (errno != EPIPE) std::cerr << "error: cannot write to the standard output\n";
  return code == command::exit_code::kGood ? command::exit_code::kError : code;
}
