// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "command/command.h"
#include "command/flags.h"

namespace gpupool::command {

// A program of gpupool that serves readers in the cluster.
struct OwnService {
  const char* flag;  // that names another one
  const char* name;  // NAMESPACE/SERVICE, if the flag is not given
  int port;
  const char* what;  // for people, such as "the ledger"
};

// The flag that names another one: NAMESPACE/SERVICE.
void add_service_flag(Flags& flags, const OwnService& service, std::string& value);

// What comes before the program's own paths, by the proxy of the API server. given: the flag's value, or
// empty. Nothing is sent. kInvalidArgument: it is not NAMESPACE/SERVICE, or the caller acts as somebody else
// (--as): the program would not know.
base::Result<std::string> service_prefix(const OwnService& service, const std::string& given,
                                         const Context& context);

}  // namespace gpupool::command
