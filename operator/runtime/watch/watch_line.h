#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::runtime {

// The type of a watch event, without reading its object if the line begins with it, as the API server's do.
// It is part of `line` then, or of `storage`. kParse if there is none.
base::Result<std::string_view> event_type(std::string_view line, std::string& storage);

// metadata.resourceVersion of the event's object; empty if it has none. All that a bookmark holds.
base::Result<std::string> event_version(std::string_view line);

// metadata.resourceVersion of a list.
base::Result<std::string> list_version(std::string_view body);

// The Status in an ERROR event, or why it cannot be read.
base::Error event_error(std::string_view line);

}  // namespace gpupool::runtime
