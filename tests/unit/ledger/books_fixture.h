// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  BooksInFolder() { open(); }
  void open() {
    books_.reset();
    auto opened = ledger::Books::open(path(), clock_);
    if (opened) books_ = *std::move(opened);
  }
  void close() { books_.reset(); }
  std::string path() const { return folder_.path() + "/ledger.db"; }
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
  TemporaryFolder folder_;
  ManualClock clock_;
  std::unique_ptr<ledger::Books> books_;
};

}  // namespace gpupool::test
