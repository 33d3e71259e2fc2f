// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gpupool::planning {

using Labels = std::map<std::string, std::string>;

// True if the labels meet `key op values`. Semantics of corev1.NodeSelectorRequirement, of which
// metav1.LabelSelectorRequirement has the first four: In, NotIn, Exists, DoesNotExist, Gt, Lt. NotIn is met
// without the label. Gt and Lt compare integers; a label that is none does not meet them, nor does anything
// meet an unknown operator. Pure.
bool meets(const Labels& labels, const std::string& key, const std::string& op,
           const std::vector<std::string>& values);

template <class Requirement>
bool meets(const Labels& labels, const Requirement& requirement) {
  return meets(labels, requirement.key, requirement.op, requirement.values);
}

}  // namespace gpupool::planning
