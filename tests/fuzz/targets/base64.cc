// SPDX-License-Identifier: Apache-2.0
#include "kube/config/base64.h"

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
using gpupool::kube::base64_decode;
using gpupool::kube::base64_encode;

void fuzz_base64(std::string_view input) {
  require(base64_decode(base64_encode(input)) == input, "decode(encode(x)) == x");
  const auto bytes = base64_decode(input);
  if (!bytes) return;
  require(bytes->size() <= input.size() / 4 * 3 + 3, "no more bytes than digits give");
  require(base64_decode(base64_encode(*bytes)) == *bytes, "what was decoded survives");
}
