// SPDX-License-Identifier: Apache-2.0
#include "books/database.h"

#include "books/postgres.h"
#include "books/sqlite.h"

namespace gpupool::ledger {

base::Result<void> execute(Query& statement) {
  const auto stepped = statement.step();
  statement.reset();
  if (!stepped) return tl::unexpected<base::Error>(stepped.error());
  return {};
}

base::Result<std::unique_ptr<Database>> open_database(const std::string& where, Access access) {
  if (where.starts_with("postgresql://") || where.starts_with("postgres://"))
    return open_postgres(where, access);
  return open_sqlite(where, access);
}

}  // namespace gpupool::ledger
