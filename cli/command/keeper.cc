// SPDX-License-Identifier: Apache-2.0
#include "command/keeper.h"

#include <utility>

#include "command/proxy_token.h"

namespace gpupool::command {
namespace {

constexpr char kKeeper[] = "gpupool-system/gpupool-keeper";
constexpr int kReadersPort = 7071;

}  // namespace

void add_keeper_flag(Flags& flags, std::string& keeper) {
  flags.text("--keeper", keeper, "NAMESPACE/SERVICE",
             "The keeper of logs, gpupool-system/gpupool-keeper if not given");
}

base::Result<logs::KeptLogs> find_keeper(const std::string& keeper, Context& context) {
  const std::string name = keeper.empty() ? kKeeper : keeper;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == name.size())
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "--keeper: \"" + name + "\" is not NAMESPACE/SERVICE");
  if (!context.general.as.empty())
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "the keeper of logs cannot be asked with --as: it would see your own token");
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  return logs::KeptLogs((*session)->client(),
                        service_proxy_path(name.substr(0, slash), name.substr(slash + 1), kReadersPort));
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
