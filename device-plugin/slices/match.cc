// SPDX-License-Identifier: Apache-2.0
#include "slices/match.h"

#include <algorithm>

namespace gpupool::slices {
namespace {

std::string with_dashes(std::string model) {
  std::replace(model.begin(), model.end(), ' ', '-');
  return model;
}

}  // namespace

bool matches(const settings::Match& match, const std::string& node, const inventory::Gpu& gpu) {
  return (match.node.empty() || match.node == node) && (match.uuid.empty() || match.uuid == gpu.uuid) &&
         (match.model.empty() || with_dashes(match.model) == with_dashes(gpu.model)) &&
         (!match.index || *match.index == gpu.index);
}

}  // namespace gpupool::slices
