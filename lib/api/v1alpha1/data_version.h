// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gpupool::api {

// The version of the data in statuses, node marks and definitions. Raise it, and the annotation in
// deploy/helm/gpupool/Chart.yaml, with a change whose data an older operator would lose or misread.
// docs/upgrade.md lists the version of each release.
inline constexpr std::int64_t kDataVersion = 2;
// Annotation of the leader election lease.
inline constexpr char kDataVersionAnnotation[] = "gpupool.dev/data-version";

}  // namespace gpupool::api
