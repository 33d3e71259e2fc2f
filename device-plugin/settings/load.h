// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/settings.h"

namespace gpupool::settings {

// What flags and environment say; each is absent where they say nothing. A flag wins over the environment
// (both are merged by the caller), and both over the file.
struct Given {
  std::optional<std::string> resource_name;
  std::optional<std::string> policy;
  std::optional<std::string> device_split_count;
  std::optional<std::string> device_memory_scaling;
  std::optional<std::string> device_core_scaling;
  std::optional<std::string> mig;
};

// Reads a whole configuration. Strict: an unknown key, a wrong type, a key given twice or a value out of
// bounds is kInvalidArgument with the line and the path of the key ("line 7: overrides[1].match.uuid: ...").
base::Result<Settings> parse(const std::string& yaml);
// The file at `path` (none if empty: defaults), with `given` on top: it replaces top-level keys, so an
// override in the file still holds for its GPUs. Also kIo. Neither function throws.
base::Result<Settings> load(const std::string& path, const Given& given);

}  // namespace gpupool::settings
