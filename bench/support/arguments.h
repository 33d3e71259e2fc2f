// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace gpupool::bench {

// `--name value` pairs of a command line; ends the program (2) at anything else.
class Arguments {
 public:
  Arguments(int argc, char** argv);

  std::string text(const std::string& name, const std::string& otherwise = "") const;
  long number(const std::string& name, long otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace gpupool::bench
