// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command/command.h"

namespace gpupool::command {

// All commands, in the order of the help.
class Registry {
 public:
  // group: the title under which the help lists it.
  void add(const std::string& group, std::unique_ptr<Command> command);

  struct Entry {
    std::string group;
    std::unique_ptr<Command> command;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  // Null if there is none.
  Command* find(std::string_view name) const;
  // The name that was probably meant; empty: none is near.
  std::string suggestion(std::string_view name) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace gpupool::command
