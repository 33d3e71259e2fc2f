// SPDX-License-Identifier: Apache-2.0
#include "command/keeper.h"

#include <utility>

#include "command/own_service.h"

namespace gpupool::command {
namespace {

constexpr OwnService kKeeper{"--keeper", "gpupool-system/gpupool-keeper", 7071, "the keeper of logs"};

}  // namespace

void add_keeper_flag(Flags& flags, std::string& keeper) { add_service_flag(flags, kKeeper, keeper); }

base::Result<logs::KeptLogs> find_keeper(const std::string& keeper, Context& context) {
  auto prefix = service_prefix(kKeeper, keeper, context);
  if (!prefix) return tl::unexpected<base::Error>(prefix.error());
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  return logs::KeptLogs((*session)->client(), std::move(*prefix));
}

base::Error keeper_problem(const base::Error& error, const std::string& what) {
  base::Error told = error;
  if (error.code == base::ErrorCode::kNotFound) {
    told.message =
        what +
        "; this cluster has no keeper of logs under that name, so logs end with their pods (docs/logs.md "
        "says how to keep them)";
  } else {
    told.message = what + "; the keeper of logs did not answer: " + error.message;
  }
  return told;
}

}  // namespace gpupool::command
