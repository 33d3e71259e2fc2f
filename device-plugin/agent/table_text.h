#pragma once

#include <string>

#include "base/result.h"
#include "slices/table.h"

namespace gpupool::agent {

// The table for a file: a restarted plugin must know how big the slices are that containers hold, or a
// changed split would hand out memory that is in use.
std::string to_text(const slices::Table& table);
// kParse for anything that to_text() did not write.
base::Result<slices::Table> table_from_text(const std::string& text);

}  // namespace gpupool::agent
