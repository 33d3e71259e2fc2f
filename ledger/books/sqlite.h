// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "books/database.h"

namespace gpupool::ledger {

// An SQLite file. Writes wait for a reader for at most 5 s.
base::Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access);

}  // namespace gpupool::ledger
