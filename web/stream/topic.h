// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta/resource_type.h"
#include "base/result.h"

namespace gpupool::web {

// One thing that a tab watches. Paths of requests are built from these checked parts alone.
struct Topic {
  enum class Kind {
    kTable,    // the printer columns of a list
    kObjects,  // the whole objects of a list
    kLog,      // the lines of a job's workers
  };

  std::string id;  // the tab's own name for it
  Kind kind = Kind::kTable;
  const api::ResourceType* type = nullptr;  // not of logs; of static duration
  std::string ns = {};                      // empty: all namespaces
  std::string name = {};                    // of one object; of logs: of the job
  std::string involved = {};                // of events: UID of the object that they are about
  std::string ranks = {};                   // of logs: "0,2-5"; empty: all
  std::optional<std::int64_t> attempt = {};
  std::int64_t tail = 0;  // of logs: lines of each rank to begin with
};

inline constexpr std::size_t kMostTopics = 12;  // of one tab

// Reads {"topics":[...]} (docs/web.md names the members). kInvalidArgument, with a message for people.
base::Result<std::vector<Topic>> read_topics(std::string_view json);

// True for what Kubernetes takes as a name: letters in lower case, digits, '-' and '.', at most 253.
bool is_name(std::string_view text);

}  // namespace gpupool::web
