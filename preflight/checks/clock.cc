// SPDX-License-Identifier: Apache-2.0
#include "checks/clock.h"

#include <cstdio>

namespace gpupool::checks {
namespace {

std::string seconds_text(std::chrono::milliseconds duration) {
  char text[32] = "";
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(duration.count()) / 1000);
  return text;
}

}  // namespace

Finding judge_clock(const ClockFacts& facts) {
  constexpr char kSynchronise[] = "run an NTP client: apt install chrony; then see: chronyc tracking";
  Judgement judgement("time");
  if (facts.synchronised) {
    judgement.note("the clock is synchronised");
  } else {
    judgement.warn("the kernel says that nothing synchronises the clock", kSynchronise);
  }
  if (!facts.ahead) {
    judgement.note("compared with no API server");
    return judgement.finding();
  }
  const auto off = std::chrono::abs(*facts.ahead);
  const std::string found =
      seconds_text(off) + (facts.ahead->count() < 0 ? " behind" : " ahead of") + " the API server";
  constexpr char kStep[] =
      "set the clock: chronyc makestep; if this one is right, tell the cluster's administrator";
  if (off > kFailAhead) {
    judgement.fail(found, kStep);
  } else if (off > kWarnAhead) {
    judgement.warn(found, kStep);
  } else {
    judgement.note("agrees with the API server's");
  }
  return judgement.finding();
}

}  // namespace gpupool::checks
