#pragma once

#include <cstdint>

namespace gpupool::api {

// Of what is stored in statuses, marks on nodes and definitions. To be raised, together with the annotation
// in deploy/helm/gpupool/Chart.yaml, by a change after which an operator from before it would lose or misread
// something; docs/upgrade.md lists which release has which.
inline constexpr std::int64_t kDataVersion = 1;

}  // namespace gpupool::api
