// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "command/registry.h"

namespace gpupool::command {

// Where a run reads and writes.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  screen::Terminal terminal = {};  // of out
  bool asks = false;               // in and err are a person's terminal
};

// Runs the command that the words name (without the program's own name) and returns the exit code. Errors go
// to streams.err in kubectl's form. session: for tests; null: opened when a command asks for it.
int run_program(const Registry& registry, const std::vector<std::string>& words, const Streams& streams,
                base::Clock& clock, const std::stop_token& stop, std::unique_ptr<Session> session = nullptr);

}  // namespace gpupool::command
