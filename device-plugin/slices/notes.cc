// SPDX-License-Identifier: Apache-2.0
#include "slices/notes.h"

namespace gpupool::slices {

std::string decimal(settings::Milli value) {
  std::string text = std::to_string(value / 1000);
  if (value % 1000 == 0) return text;
  const std::string decimals = std::to_string(1000 + value % 1000).substr(1);
  return text + "." + decimals.substr(0, decimals.find_last_not_of('0') + 1);
}

std::string describe(const inventory::Gpu& gpu) {
  return "GPU " + std::to_string(gpu.index) + " (" + gpu.uuid + (gpu.model.empty() ? "" : ", " + gpu.model) +
         ")";
}

std::string cut_note(const inventory::Gpu& gpu, const settings::Split& split, const Cut& cut) {
  std::string note;
  if (cut.overcommits) {
    note += "; over-committed: memory x " + decimal(split.memory_scaling) + ", cores x " +
            decimal(split.core_scaling);
  }
  if (cut.memory_left_mib > 0 || cut.cores_left > 0) {
    note += "; in no slice: " + std::to_string(cut.memory_left_mib) + " MiB and " +
            std::to_string(cut.cores_left) + " % of its cores";
  }
  if (note.empty()) return note;
  return describe(gpu) + ": " + std::to_string(cut.count) + " slices of " + std::to_string(cut.memory_mib) +
         " MiB and " + std::to_string(cut.cores) + " %" + note;
}

}  // namespace gpupool::slices
