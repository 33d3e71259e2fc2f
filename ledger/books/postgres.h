// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "books/database.h"

namespace gpupool::ledger {

// url: as libpq reads it, https://www.postgresql.org/docs/15/libpq-connect.html; what it does not say is
// taken from the variables PGPASSWORD, PGSSLMODE and so on. A connection that was lost is made again by the
// next statement outside a transaction.
base::Result<std::unique_ptr<Database>> open_postgres(const std::string& url, Access access);

}  // namespace gpupool::ledger
