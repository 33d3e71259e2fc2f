// SPDX-License-Identifier: Apache-2.0
#include "books/sqlite.h"

#include <sqlite3.h>

namespace gpupool::ledger {
namespace {

constexpr int kBusyMilliseconds = 5000;

tl::unexpected<base::Error> failure(sqlite3* database, const std::string& what) {
  return base::fail(base::ErrorCode::kIo, what + ": " + sqlite3_errmsg(database));
}

}  // namespace

void Query::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Sqlite::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Query& Query::bind(int place, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), place, value);
  return *this;
}

Query& Query::bind(int place, std::string_view value) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-cstyle-cast,performance-no-int-to-ptr): SQLITE_TRANSIENT
  sqlite3_bind_text64(statement_.get(), place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

base::Result<bool> Query::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_.get()), "cannot use the books");
}

void Query::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Query::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Query::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

base::Result<Sqlite> Sqlite::open(const std::string& path, Access access) {
  const int flags = access == Access::kReadOnly ? SQLITE_OPEN_READONLY
                    : access == Access::kCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                : SQLITE_OPEN_READWRITE;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Sqlite database;
  database.database_.reset(raw);
  if (code != SQLITE_OK) return failure(raw, "cannot open the books " + path);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  sqlite3_exec(raw, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);  // its pod has no other place
  return database;
}

base::Result<Query> Sqlite::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return failure(database_.get(), "cannot read the books");
  Query query;
  query.statement_.reset(raw);
  return query;
}

base::Result<void> Sqlite::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(database_.get(), "cannot write the books");
  return {};
}

base::Result<std::string> Sqlite::integrity() {
  auto check = prepare("PRAGMA integrity_check(1)");
  if (!check) return tl::unexpected<base::Error>(check.error());
  const auto row = check->step();
  if (!row) return tl::unexpected<base::Error>(row.error());
  const auto said = *row ? check->text(0) : std::string();
  return said == "ok" ? std::string() : said;
}

}  // namespace gpupool::ledger
