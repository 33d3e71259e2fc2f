// SPDX-License-Identifier: Apache-2.0
#include "kube/config/pem.h"

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;

void fuzz_pem(std::string_view input) {
  const auto checked = gpupool::kube::check_pem(input, "CERTIFICATE", "FILE: key");
  const bool begins = input.find("-----BEGIN ") != std::string_view::npos;
  const bool ends = input.find("-----END ") != std::string_view::npos;
  if (checked) {
    require(begins && ends, "a block begins and ends");
    require(gpupool::kube::check_pem(std::string(input) + "\n", "CERTIFICATE", "").has_value(),
            "a line break behind it changes nothing");
  } else {
    require(checked.error().message.starts_with("FILE: key"), "an error names the place");
  }
}
