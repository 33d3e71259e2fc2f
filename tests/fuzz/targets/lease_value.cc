// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/lease_value.h"

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;

void fuzz_lease_value(std::string_view input) {
  const auto value = gpupool::api::parse_lease_value(input);
  if (!value) return;
  require(value->n >= 1 && !value->job_uid.empty(), "a lease has a job and a number");
  require(gpupool::api::parse_lease_value(value->to_string()) == value, "parse(print(x)) == x");
}
