// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "command/flags.h"

namespace gpupool::command {

// The flags that every command takes, with kubectl's names and meanings.
struct GeneralFlags {
  std::string ns;  // empty: that of the kubeconfig's context
  std::string context;
  std::string kubeconfig;
  std::string as;
  std::vector<std::string> as_groups;
  std::optional<std::chrono::milliseconds> request_timeout;  // of each request; 0 or nothing: the usual ones
};

void add_general_flags(Flags& flags, GeneralFlags& values);

}  // namespace gpupool::command
