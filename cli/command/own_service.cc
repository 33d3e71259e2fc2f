// SPDX-License-Identifier: Apache-2.0
#include "command/own_service.h"

#include <cctype>

#include "command/proxy_token.h"

namespace gpupool::command {

void add_service_flag(Flags& flags, const OwnService& service, std::string& value) {
  std::string help = std::string(service.what) + ", " + service.name + " if not given";
  help.front() = static_cast<char>(std::toupper(help.front()));
  flags.text(service.flag, value, "NAMESPACE/SERVICE", help);
}

base::Result<std::string> service_prefix(const OwnService& service, const std::string& given,
                                         const Context& context) {
  const std::string name = given.empty() ? service.name : given;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == name.size())
    return base::fail(base::ErrorCode::kInvalidArgument,
                      std::string(service.flag) + ": \"" + name + "\" is not NAMESPACE/SERVICE");
  if (!context.general.as.empty())
    return base::fail(base::ErrorCode::kInvalidArgument,
                      std::string(service.what) + " cannot be asked with --as: it would see your own token");
  return service_proxy_path(name.substr(0, slash), name.substr(slash + 1), service.port);
}

}  // namespace gpupool::command
