// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/attempts.h"

namespace gpupool::keeper {

inline constexpr std::int64_t kMaxRanks = 10'000;

// Who a launcher says that it is. Only namespace, UID and lease are proved by its token; the rest is text of
// the tenant.
struct Hello {
  AttemptInfo attempt;
  std::int64_t rank = 0;
  std::string key;  // id
};

// Reads the payload of a hello. kInvalidArgument, for the launcher's log. Pure.
base::Result<Hello> read_hello(std::string_view json);

}  // namespace gpupool::keeper
