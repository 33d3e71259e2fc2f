// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "command/exit_code.h"
#include "command/flags.h"
#include "command/general_flags.h"
#include "command/session.h"
#include "screen/terminal.h"

namespace gpupool::command {

class Registry;

// What a command is told apart from its own flags. One run, one thread.
struct Context {
  const Registry& registry;
  const GeneralFlags& general;
  base::Clock& clock;  // of this machine
  std::stop_token stop;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  screen::Terminal terminal;          // of out
  bool asks = false;                  // in and err are a person's terminal: a question may be asked
  std::vector<std::string> trailing;  // the words after --

  // Opens the session at the first call.
  base::Result<Session*> session();

  std::unique_ptr<Session> opened = {};  // set by session(), or before by a test
};

// One thing that kubectl gpupool does. A command's flags are its members: add_flags binds them, run reads
// them.
class Command {
 public:
  // The texts of a command for help, the manual page and completion.
  struct Manual {
    std::string name;
    std::string summary;        // one line, without a full stop
    std::string text = {};      // more, as paragraphs
    std::string example = {};   // lines to type
    std::string trailing = {};  // what may follow --, as "COMMAND [ARG...]"; empty: nothing may
    bool hidden = false;        // not listed
  };

  virtual ~Command() = default;
  virtual Manual manual() const = 0;
  virtual void add_flags(Flags& flags) = 0;
  // Returns an exit code, or an error that the caller prints and that ends the program with exit_code::kError
  // (kInvalidArgument: with kUsage).
  virtual base::Result<int> run(Context& context) = 0;
};

}  // namespace gpupool::command
