// SPDX-License-Identifier: Apache-2.0
#include "bench/support/arguments.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gpupool::bench {

Arguments::Arguments(int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (!name.starts_with("--") || i + 1 == argc) {
      std::fprintf(stderr, "%s: --name value wanted, not %s\n", argv[0], argv[i]);
      std::exit(2);
    }
    values_.emplace(name.substr(2), argv[i + 1]);
  }
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

long Arguments::number(const std::string& name, long otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : std::strtol(found->second.c_str(), nullptr, 10);
}

}  // namespace gpupool::bench
