// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include "tests/fuzz/property.h"

using gpupool::base::parse_rfc3339;
using gpupool::fuzz::require;

void fuzz_rfc3339(std::string_view input) {
  const auto time = parse_rfc3339(input);
  if (!time) return;
  require(input.size() >= 20, "a time has at least twenty characters");
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*time);
  const auto micro = std::chrono::floor<std::chrono::microseconds>(*time);
  require(*time - parse_rfc3339("9999-01-01T00:00:00Z").value() <= gpupool::base::Duration::zero(),
          "no time is after the last");
  require(parse_rfc3339(gpupool::base::to_rfc3339(*time)) == seconds, "parse(print(x)) == x, in seconds");
  require(parse_rfc3339(gpupool::base::to_rfc3339_micro(*time)) == micro,
          "parse(print(x)) == x, in microseconds");
}
