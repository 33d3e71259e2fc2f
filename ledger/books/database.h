// SPDX-License-Identifier: Apache-2.0
// The database of the books: an SQLite file, or PostgreSQL. Both take the same SQL, with errors as values.
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::ledger {

// A statement with parameters ?1, ?2, ... Errors of binding and stepping are kept and returned by step().
class Query {
 public:
  virtual ~Query() = default;

  virtual Query& bind(int place, std::int64_t value) = 0;
  virtual Query& bind(int place, std::string_view value) = 0;
  // True: there is a row. False: it is done.
  virtual base::Result<bool> step() = 0;
  // Ends the work of the statement, so that it can be bound anew.
  virtual void reset() = 0;
  // Of the row; 0 or empty where it has NULL. Columns count from 0.
  virtual std::int64_t number(int column) const = 0;
  virtual std::string text(int column) const = 0;
};

// Runs a statement that has no rows, and resets it.
base::Result<void> execute(Query& statement);

class Database {
 public:
  virtual ~Database() = default;

  virtual base::Result<std::unique_ptr<Query>> prepare(const std::string& sql) = 0;
  // A SELECT without parameters that may have any number of rows: they are not all in memory at once. Those
  // that are open at the same time see the same state.
  virtual base::Result<std::unique_ptr<Query>> select(const std::string& sql) = 0;
  // Statements without parameters and results.
  virtual base::Result<void> run(const std::string& sql) = 0;
  // Begins a transaction of the only writer; waits for another one, for some seconds. Ends with COMMIT or
  // ROLLBACK.
  virtual base::Result<void> begin_write() = 0;
  // The types of whole numbers, and what follows the columns of a table.
  virtual std::string integer() const = 0;
  virtual std::string end_of_table() const = 0;
  // What the database says of itself if it is damaged; empty: it is sound.
  virtual base::Result<std::string> integrity() = 0;
  // For people; has no secret.
  virtual std::string name() const = 0;
};

enum class Access { kReadOnly, kReadWrite, kCreate };

// where: the path of an SQLite file, or the URL of a PostgreSQL database, postgresql://... kCreate makes the
// file if it is missing; a database of PostgreSQL must exist.
base::Result<std::unique_ptr<Database>> open_database(const std::string& where, Access access);

}  // namespace gpupool::ledger
