// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "books/database.h"

namespace gpupool::ledger {

// A transaction of the only writer. Undone unless it was committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database), begun_(database.begin_write()) {}
  ~Transaction() {
    if (begun_ && !committed_) static_cast<void>(database_.run("ROLLBACK"));
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  const base::Result<void>& begun() const { return begun_; }
  base::Result<void> commit() {
    auto done = database_.run("COMMIT");
    committed_ = done.has_value();
    return done;
  }

 private:
  Database& database_;
  base::Result<void> begun_;
  bool committed_ = false;
};

}  // namespace gpupool::ledger
