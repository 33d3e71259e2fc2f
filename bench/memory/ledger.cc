// SPDX-License-Identifier: Apache-2.0
// The books of gpupool-ledger on this machine's disk: how fast they are written, and checked.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/support/results.h"
#include "books/books.h"
#include "books/verify.h"

namespace gpupool::bench {
namespace {

constexpr std::int64_t kBatch = 100;
constexpr std::int64_t kBegin = 1'793'491'200;  // 2026-11-01T00:00:00Z
constexpr std::int64_t kNodes = 1000;

// Each node has one job after the other, of 100 s.
ledger::Fact fact(std::int64_t number) {
  ledger::Fact made;
  made.job_uid = "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + number);
  made.number = 1;
  made.ns = "team-" + std::to_string(number % 20);
  made.job = "train-" + std::to_string(number);
  made.pool = "lab";
  made.owner = "owner-" + std::to_string(number % 7);
  made.currency = "EUR";
  made.per_gpu_hour = 1'200'000;
  made.fee = 10;
  made.gpus = 8;
  made.nodes = {"gpu-node-" + std::to_string(number % kNodes)};
  made.from = kBegin + number / kNodes * 100;
  made.to = made.from + 100;
  made.cost = *ledger::cost_until(made, made.to);
  return made;
}

[[noreturn]] void give_up(const base::Error& error) {
  std::fprintf(stderr, "bench_ledger: %s\n", error.message.c_str());
  std::exit(1);
}

// Enters so many, `batch` at a time. Returns entries per second.
double enter(ledger::Books& books, std::int64_t from, std::int64_t count, std::int64_t batch) {
  const auto began = std::chrono::steady_clock::now();
  for (std::int64_t done = 0; done < count; done += batch) {
    std::vector<ledger::Fact> facts;
    for (std::int64_t i = done; i < std::min(done + batch, count); ++i) facts.push_back(fact(from + i));
    const auto made = books.enter(facts);
    if (!made) give_up(made.error());
  }
  return static_cast<double>(count) / seconds_since(began);
}

double peak_megabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

void measure(Results& results, const std::string& path, std::int64_t count) {
  const base::SystemClock clock;
  auto books = ledger::Books::open(path, clock);
  if (!books) give_up(books.error());
  const auto singles = count / 100;
  results.value("one entry a transaction", enter(**books, 0, singles, 1), "entries/s");
  results.value("100 entries a transaction", enter(**books, singles, count, kBatch), "entries/s");
  const auto began = std::chrono::steady_clock::now();
  const auto again = (*books)->enter(std::vector<ledger::Fact>{fact(1), fact(2), fact(3)});
  if (!again || *again != 0) give_up({base::ErrorCode::kConflict, "an entry was made twice"});
  results.value("three known facts come again", seconds_since(began) * 1e6, "us");
  results.value("memory after the entries", peak_megabytes(), "MB");
  const auto check = std::chrono::steady_clock::now();
  const auto verdict = ledger::verify(**books, std::nullopt);
  if (!verdict) give_up(verdict.error());
  if (!verdict->findings.empty()) give_up({base::ErrorCode::kConflict, verdict->findings.front().what});
  results.value("verify", static_cast<double>(verdict->entries) / seconds_since(check), "entries/s");
  results.value("memory after verify", peak_megabytes(), "MB");
  books->reset();  // what is in the log of the file goes into it
  results.value("size of an entry",
                static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(verdict->entries),
                "B");
}

}  // namespace
}  // namespace gpupool::bench

int main(int argc, char** argv) {
  const bool smoke = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
  gpupool::bench::Results results("ledger");
  const auto folder =
      std::filesystem::temp_directory_path() / ("gpupool-bench-ledger-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  gpupool::bench::measure(results, folder / "ledger.db", smoke ? 1000 : 300'000);
  std::filesystem::remove_all(folder);
  results.print();
}
