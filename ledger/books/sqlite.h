// SPDX-License-Identifier: Apache-2.0
// SQLite with errors as values. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gpupool::ledger {

// A prepared statement. Errors of binding and stepping are kept and returned by step().
class Query {
 public:
  Query() = default;

  Query& bind(int place, std::int64_t value);
  Query& bind(int place, std::string_view value);
  // True: there is a row. False: it is done.
  base::Result<bool> step();
  // Ends the work of the statement, so that it can be bound anew.
  void reset();
  std::int64_t number(int column) const;
  std::string text(int column) const;

 private:
  friend class Sqlite;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Sqlite {
 public:
  enum class Access { kReadOnly, kReadWrite, kCreate };

  // kCreate makes the file if it is missing. Writes wait for a reader for at most 5 s.
  static base::Result<Sqlite> open(const std::string& path, Access access);

  base::Result<Query> prepare(std::string_view sql);
  // Statements without parameters and results.
  base::Result<void> run(const std::string& sql);
  // What SQLite says of a whole file that is damaged; empty: it is sound.
  base::Result<std::string> integrity();

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace gpupool::ledger
