// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "base/stop_signals.h"
#include "command/program.h"
#include "general/version.h"
#include "jobs/commands.h"
#include "logs/logs_command.h"
#include "net/curl_transport.h"

int main(int argc, char** argv) {
  using namespace gpupool;
  std::ios::sync_with_stdio(false);
  std::stop_source stop;
  const base::StopSignals signals(stop);
  const net::CurlGlobal curl;
  base::SystemClock clock;

  command::Registry registry;
  static constexpr char kJobs[] = "Jobs";
  for (const auto make :
       {jobs::make_list, jobs::make_queue, jobs::make_describe, jobs::make_wait, jobs::make_cancel,
        jobs::make_suspend, jobs::make_resume, jobs::make_retry, jobs::make_priority}) {
    registry.add(kJobs, make());
  }
  registry.add(kJobs, logs::make_logs());
  registry.add("About this program", general::make_version(GPUPOOL_VERSION));

  const int code = command::run_program(registry, {argv + 1, argv + argc},
                                        {std::cin, std::cout, std::cerr, screen::terminal_of(STDOUT_FILENO),
                                         isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1},
                                        clock, stop.get_token());
  std::cout.flush();
  if (std::cout.good()) return code;
  if (errno != EPIPE) std::cerr << "error: cannot write to the standard output\n";
  return code == command::exit_code::kGood ? command::exit_code::kError : code;
}
