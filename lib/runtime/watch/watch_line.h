// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::runtime {

// Returns the type of a watch event. Does not parse the object if the line begins with the type, as the API
// server's lines do. The result points into `line` or `storage`. kParse if there is no type.
base::Result<std::string_view> event_type(std::string_view line, std::string& storage);

// Returns metadata.resourceVersion of the event's object; empty if it has none. A bookmark contains nothing
// else.
base::Result<std::string> event_version(std::string_view line);

// Returns metadata.resourceVersion of a list.
base::Result<std::string> list_version(std::string_view body);

// Returns the Status in an ERROR event as an error, or the error of reading it.
base::Error event_error(std::string_view line);

}  // namespace gpupool::runtime
