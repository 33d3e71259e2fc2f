// SPDX-License-Identifier: Apache-2.0
#include "settings/load.h"

#include "base/read_file.h"
#include "settings/resource_name.h"
#include "settings/values.h"

namespace gpupool::settings {
namespace {

// `name` is that of the flag; its environment variable is the same in capitals.
template <class T, class Parse>
base::Result<void> apply(const std::optional<std::string>& given, const std::string& name, T& target,
                         Parse parse) {
  if (!given) return {};
  auto value = parse(*given);
  if (!value) return base::in_context(value.error(), "--" + name + " or its environment variable");
  target = std::move(*value);
  return {};
}

base::Result<void> apply_all(const Given& given, Settings& settings) {
  const auto count = [](const std::string& text) { return to_integer(text, 1, kMaxSplitCount); };
  auto ok = apply(given.resource_name, "resource-name", settings.resource_name, to_resource_name);
  if (ok) ok = apply(given.policy, "allocation-policy", settings.policy, to_policy);
  if (ok) ok = apply(given.device_split_count, "device-split-count", settings.split.count, count);
  if (ok) {
    ok = apply(given.device_memory_scaling, "device-memory-scaling", settings.split.memory_scaling,
               to_scaling);
  }
  if (ok)
    ok = apply(given.device_core_scaling, "device-core-scaling", settings.split.core_scaling, to_scaling);
  if (ok) ok = apply(given.mig, "mig", settings.mig, to_bool);
  if (!ok) return ok;
  if (const std::string problem = mig_problem(settings); !problem.empty()) {
    return base::fail(base::ErrorCode::kInvalidArgument, "--mig or its environment variable: " + problem);
  }
  return {};
}

}  // namespace

base::Result<Settings> load(const std::string& path, const Given& given) {
  base::Result<Settings> settings;
  if (!path.empty()) {
    const auto text = base::read_file(path, base::kMiB);
    if (!text) return tl::unexpected<base::Error>(text.error());
    settings = parse(*text);
    if (!settings) return base::in_context(settings.error(), path);
  }
  if (auto ok = apply_all(given, *settings); !ok) return tl::unexpected<base::Error>(ok.error());
  return settings;
}

}  // namespace gpupool::settings
