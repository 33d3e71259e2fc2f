// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "checks/render.h"
#include "net/curl_transport.h"
#include "options.h"
#include "run_checks.h"

int main(int argc, char** argv) {
  using namespace gpupool;
  const auto parsed = preflight::parse_options(argc, argv);
  if (const auto* code = std::get_if<int>(&parsed)) return *code;
  const auto& options = std::get<preflight::Options>(parsed);
  const net::CurlGlobal curl;
  base::SystemClock clock;
  const auto findings = preflight::run_checks(options, clock, base::Log(base::LogLevel::kError));
  const auto text = options.json ? checks::as_json(findings) : checks::as_text(findings);
  std::fputs(text.c_str(), stdout);
  return checks::worst(findings) == checks::Verdict::kFail ? 1 : 0;
}
