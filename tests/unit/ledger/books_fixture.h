// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "books/books.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::test {

inline constexpr std::int64_t kNovember = 1'793'491'200;  // 2026-11-01T00:00:00Z
inline constexpr std::int64_t kDay = 86'400;              // seconds

// A segment whose cost is right: one GPU on each node, 3.60 an hour, so a second costs 1,000 millionths.
inline ledger::Fact make_fact(const std::string& uid, std::int64_t number, std::vector<std::string> nodes,
                              std::int64_t from, std::int64_t to) {
  ledger::Fact fact;
  fact.job_uid = uid;
  fact.number = number;
  fact.ns = "team-a";
  fact.job = "job-" + uid;
  fact.pool = "lab";
  fact.owner = "alice";
  fact.currency = "EUR";
  fact.per_gpu_hour = 3'600'000;
  fact.fee = 10;
  fact.gpus = 1;
  fact.nodes = std::move(nodes);
  fact.from = kNovember + from;
  fact.to = kNovember + to;
  fact.cost = *ledger::cost_until(fact, fact.to);
  return fact;
}

class BooksInFolder {
 public:
  BooksInFolder() : where_(server().empty() ? folder_.path() + "/ledger.db" : own_schema()) { open(); }
  void open() {
    books_.reset();
    auto opened = ledger::Books::open(path(), clock_);
    if (opened) books_ = *std::move(opened);
  }
  void close() { books_.reset(); }
  // Of a server: as if it had been started anew. A file has no connection.
  void lose_connection() {
    if (server().empty()) return;
    const auto database = ledger::open_database(where_, ledger::Access::kReadWrite);
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        "AND application_name = 'gpupool-ledger'"));
  }
  // Where they are, as Books::open() takes it.
  std::string path() const { return where_; }
  // Changes what is stored, as nobody may.
  void forge(const std::string& sql) {
    close();
    const auto database = ledger::open_database(where_, ledger::Access::kReadWrite);
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->run(server().empty() ? "PRAGMA foreign_keys=OFF"
                                                  : "SET session_replication_role = replica"));
    ASSERT_TRUE((*database)->run(sql)) << sql;
    open();
  }
  ledger::Books& operator*() { return *books_; }
  ledger::Books* operator->() { return books_.get(); }
  std::size_t enter(const std::vector<ledger::Fact>& facts) { return books_->enter(facts).value_or(999); }
  std::vector<ledger::Entry> entries() {
    std::vector<ledger::Entry> all;
    static_cast<void>(books_->each_entry([&](const auto& entry) {
      all.push_back(entry);
      return true;
    }));
    return all;
  }

 private:
  // The URL of a PostgreSQL database; empty: SQLite.
  static std::string server() {
    const char* url = std::getenv("GPUPOOL_TEST_POSTGRES");
    return url == nullptr ? "" : url;
  }
  static std::string own_schema() {
    static int last = 0;
    const auto name = "books_" + std::to_string(::getpid()) + "_" + std::to_string(++last);
    const auto database = ledger::open_database(server(), ledger::Access::kReadWrite);
    if (!database || !(*database)->run("CREATE SCHEMA " + name)) ADD_FAILURE() << "no schema in " << server();
    return server() + "?options=-csearch_path%3D" + name;
  }

  TemporaryFolder folder_;
  std::string where_;
  ManualClock clock_;
  std::unique_ptr<ledger::Books> books_;
};

}  // namespace gpupool::test
