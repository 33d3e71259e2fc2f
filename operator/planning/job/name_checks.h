// SPDX-License-Identifier: Apache-2.0
// Rules for names and paths in a spec, as Kubernetes has them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gpupool::planning {

// True for names of Secrets, ConfigMaps and claims: a DNS subdomain.
bool is_object_name(std::string_view name);

// Why `path` cannot be used as a path below a directory, such as "must not have an empty part, . or ..";
// empty if it can. It does not begin with a slash.
std::string problem_of_path(std::string_view path);

}  // namespace gpupool::planning
