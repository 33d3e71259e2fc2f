// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <stop_token>

#include "base/clock.h"
#include "base/stop_signals.h"
#include "net/curl_transport.h"
#include "options.h"

int main(int argc, char** argv) {
  using namespace gpupool;
  const auto parsed = carry::parse_options(argc, argv);
  if (const auto* code = std::get_if<int>(&parsed)) return *code;
  ::umask(0);  // modes are as carry/files says
  std::stop_source stop;
  const base::StopSignals signals(stop);
  const net::CurlGlobal curl;
  base::SystemClock clock;
  const auto& command = std::get<carry::Command>(parsed);
  if (const auto* fetch = std::get_if<carry::FetchOptions>(&command))
    return carry::fetch_source(*fetch, clock, stop.get_token());
  return carry::push_results(std::get<carry::PushOptions>(command), clock, stop.get_token());
}
