// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "csv/csv_command.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return gpupool::carry::csv_command(arguments, {});
}
