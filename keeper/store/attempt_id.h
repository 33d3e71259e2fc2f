// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpupool::keeper {

// One attempt of a job, by its lease: a restart of workers with the same nodes counts as an attempt of its
// own, with a lease of its own. lease: n of the lease's id, JOBUID.n.
struct AttemptId {
  std::string ns;
  std::string uid;  // of the GpuJob
  std::int64_t lease = 0;
  auto operator<=>(const AttemptId&) const = default;
};

// Whether a text may be the name of a folder: 1 to 253 characters of a-z, 0-9, '-' and '.', the first one a
// letter or a digit. Names of namespaces and UIDs are such.
bool is_folder_name(std::string_view text);

// The folder of an attempt, below that of the store. REQUIRES: is_folder_name of both names.
std::string folder_of(const AttemptId& id);

}  // namespace gpupool::keeper
