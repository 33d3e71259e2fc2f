// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpupool::planning {

// References of the form $(name), with the grammar of Kubernetes: $$ stands for a dollar sign and begins no
// reference. What is in the brackets and is no name, such as a shell command with a space, is no reference.

// Returns the names of all references, in order.
std::vector<std::string> references_in(std::string_view text);

// Replaces each reference for which value_of returns a value. All else stays as it is, for the kubelet.
// Dollar signs of a value are doubled, so the kubelet passes on exactly this value.
using ValueOf = std::function<std::optional<std::string>(std::string_view name)>;
std::string substitute(std::string_view text, const ValueOf& value_of);

// The same for texts that no kubelet sees, in which $$ means nothing: values are put in as they are.
std::string fill_in(std::string_view text, const ValueOf& value_of);

// Returns the text with each dollar sign doubled.
std::string escape_dollars(std::string_view text);

}  // namespace gpupool::planning
