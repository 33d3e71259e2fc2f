// SPDX-License-Identifier: Apache-2.0
#include "settings/document.h"
#include "settings/load.h"
#include "settings/values.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace settings = gpupool::settings;

namespace {

void check(const settings::Settings& read) {
  const auto scaling = [](settings::Milli value) { return value > 0 && value <= 100'000; };
  require(read.split.count >= 1 && read.split.count <= settings::kMaxSplitCount, "the count is in bounds");
  require(scaling(read.split.memory_scaling) && scaling(read.split.core_scaling), "factors are in bounds");
  for (const auto& one : read.overrides) {
    require(one.count.value_or(1) >= 1 && one.count.value_or(1) <= settings::kMaxSplitCount,
            "also in overrides");
    require(scaling(one.memory_scaling.value_or(1)) && scaling(one.core_scaling.value_or(1)), "also there");
  }
  require(read.recovery_probes >= 0 && read.recovery_seconds >= 0, "recovery takes no negative time");
  require(read.driver_root.starts_with('/'), "the driver's root is a whole path");
}

}  // namespace

void fuzz_settings_file(std::string_view input) {
  const std::string yaml(input);
  const auto document = settings::read_document(yaml);
  const auto read = settings::parse(yaml);
  if (!document) require(!read, "what is no document holds no settings");
  if (read) return check(*read);
  gpupool::fuzz::require_explained(read.error());
  require(read.error().message.starts_with("line ") || yaml.size() > 1'000'000, "an error names its line");
}
