// SPDX-License-Identifier: Apache-2.0
#include "books/sqlite.h"

#include <sqlite3.h>

#include <utility>

namespace gpupool::ledger {
namespace {

constexpr int kBusyMilliseconds = 5000;
// WAL: readers never wait for the writer. FULL: a transaction that has ended survives the loss of power.
constexpr char kSettings[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;";

tl::unexpected<base::Error> sqlite_failure(sqlite3* database, const std::string& what) {
  return base::fail(base::ErrorCode::kIo, what + ": " + sqlite3_errmsg(database));
}

class SqliteQuery final : public Query {
 public:
  explicit SqliteQuery(sqlite3_stmt* statement) : statement_(statement) {}

  Query& bind(int place, std::int64_t value) override {
    sqlite3_bind_int64(statement_.get(), place, value);
    return *this;
  }
  Query& bind(int place, std::string_view value) override {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-cstyle-cast,performance-no-int-to-ptr): SQLITE_TRANSIENT
    sqlite3_bind_text64(statement_.get(), place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
  }
  base::Result<bool> step() override {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return sqlite_failure(sqlite3_db_handle(statement_.get()), "cannot use the books");
  }
  void reset() override {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
  }
  std::int64_t number(int column) const override { return sqlite3_column_int64(statement_.get(), column); }
  std::string text(int column) const override {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    const auto size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}

  base::Result<std::unique_ptr<Query>> prepare(const std::string& sql) override {
    sqlite3_stmt* raw = nullptr;
    const int code =
        sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    if (code != SQLITE_OK) return sqlite_failure(database_.get(), "cannot read the books");
    return std::make_unique<SqliteQuery>(raw);
  }
  base::Result<std::unique_ptr<Query>> select(const std::string& sql) override { return prepare(sql); }
  base::Result<void> run(const std::string& sql) override {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      return sqlite_failure(database_.get(), "cannot write the books");
    return {};
  }
  base::Result<void> begin_write() override { return run("BEGIN IMMEDIATE"); }
  std::string integer() const override { return "INTEGER"; }
  std::string end_of_table() const override { return " STRICT"; }
  base::Result<std::string> integrity() override {
    const auto check = prepare("PRAGMA integrity_check(1)");
    if (!check) return tl::unexpected<base::Error>(check.error());
    const auto row = (*check)->step();
    if (!row) return tl::unexpected<base::Error>(row.error());
    const auto said = *row ? (*check)->text(0) : std::string();
    return said == "ok" ? std::string() : said;
  }
  std::string name() const override { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access) {
  const int flags = access == Access::kReadOnly ? SQLITE_OPEN_READONLY
                    : access == Access::kCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                : SQLITE_OPEN_READWRITE;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  auto database = std::make_unique<SqliteDatabase>(raw, path);
  if (code != SQLITE_OK) return sqlite_failure(raw, "cannot open the books " + path);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  sqlite3_exec(raw, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);  // its pod has no other place
  if (access != Access::kReadOnly) {
    if (auto set = database->run(kSettings); !set) return tl::unexpected<base::Error>(set.error());
  }
  return database;
}

}  // namespace gpupool::ledger
