// SPDX-License-Identifier: Apache-2.0
#include "fetch/fetch_command.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/unique_fd.h"
#include "fetch/fetch_item.h"
#include "fetch/item_store.h"
#include "files/directories.h"
#include "files/size_budget.h"
#include "reporting/failure_reason.h"
#include "reporting/report_json.h"
#include "reporting/termination_log.h"

namespace gpupool::carry {
namespace {

constexpr std::size_t kAtATime = 4;
constexpr int kFailed = 1;
constexpr int kStoppedCode = 143;  // as if SIGTERM had ended it

class Fetch {
 public:
  Fetch(const FetchOptions& options, base::Clock& clock, std::stop_token stop)
      : options_(options),
        stop_(std::move(stop)),
        stops_all_(stop_, [this] { abort_.request_stop(); }),
        began_(clock.now()),
        clock_(clock),
        store_(options.state),
        budget_(size_limit(options.source)),
        done_(options.source.items.size()) {}

  api::TransferReport run() {
    api::TransferReport report;
    report.attempt = options_.attempt;
    auto result = fetch_all();
    report.milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - began_).count();
    if (!result) {
      report.reason = reason_of(result.error().kind);
      report.message = result.error().message;
      return report;
    }
    for (auto& item : done_) {
      report.bytes += item->bytes;
      report.items.push_back(*std::move(item));
    }
    return report;
  }

 private:
  static std::int64_t size_limit(const api::JobSource& source) {
    const auto& text = source.size_limit.empty() ? std::string(api::kDefaultSourceSize) : source.size_limit;
    return base::parse_quantity(text).value_or(0);
  }

  Outcome<void> fetch_all() {
    auto root = open_directory(options_.work);
    if (!root) return tl::unexpected(root.error());
    root_ = *std::move(root);
    if (auto known = take_up(); !known) return known;
    fetch_side_by_side();
    for (std::size_t i = 0; i < done_.size() && !failure_; ++i) {
      if (is_csv(i)) fetch_one(i);
    }
    if (failure_) return tl::unexpected(*failure_);
    return {};
  }

  bool is_csv(std::size_t index) const { return options_.source.items[index].csv.has_value(); }

  // What an earlier start has completed.
  Outcome<void> take_up() {
    for (std::size_t i = 0; i < done_.size(); ++i) {
      done_[i] = store_.complete(i);
      if (!done_[i]) continue;
      if (auto taken = budget_.take(done_[i]->bytes); !taken) return taken;
    }
    return {};
  }

  void fetch_side_by_side() {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < done_.size(); i = next++) {
        if (!is_csv(i)) fetch_one(i);
      }
    };
    std::vector<std::jthread> threads;
    const auto others = std::min(kAtATime, done_.size()) - 1;
    threads.reserve(others);
    for (std::size_t i = 0; i < others; ++i) threads.emplace_back(work);
    work();
  }

  void fetch_one(std::size_t index) {
    if (done_[index] || abort_.stop_requested()) return;
    ItemPlace place;
    place.index = index;
    place.root = root_.get();
    place.budget = &budget_;
    place.scratch = options_.state + "/item-" + std::to_string(index);
    place.secrets = options_.secrets;
    place.config_maps = options_.config_maps;
    place.deadline = began_ + std::chrono::seconds(options_.source.timeout_seconds);
    std::error_code error;
    std::filesystem::create_directories(place.scratch, error);
    auto fetched = fetch_item(options_.source.items[index], place, abort_.get_token());
    if (fetched) {
      std::filesystem::remove_all(place.scratch, error);
      if (auto stored = store_.store(index, *fetched); !stored) return fail(stored.error());
      done_[index] = *std::move(fetched);
      return;
    }
    fail(fetched.error());
  }

  // The first failure counts; the others follow from the stop.
  void fail(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    abort_.request_stop();
  }

  const FetchOptions& options_;
  const std::stop_token stop_;
  std::stop_source abort_;
  std::stop_callback<std::function<void()>> stops_all_;
  const base::SteadyTime began_;
  base::Clock& clock_;
  ItemStore store_;
  SizeBudget budget_;
  base::UniqueFd root_;
  std::mutex mutex_;
  std::optional<Failure> failure_;
  std::vector<std::optional<api::TransferredItem>> done_;  // each written by one thread
};

void tell(const Outcome<void>& done) {
  if (!done) std::fprintf(stderr, "gpupool-carry: %s\n", done.error().message.c_str());
}

}  // namespace

int fetch_source(const FetchOptions& options, base::Clock& clock, std::stop_token stop) {
  std::error_code error;
  std::filesystem::create_directories(options.state, error);
  ItemStore store(options.state);
  if (const auto known = store.whole()) {
    std::fprintf(stdout, "%s\n", known->c_str());
    tell(write_termination_log(options.termination_log, *known));
    return 0;
  }
  const auto report = Fetch(options, clock, stop).run();
  const auto text = to_json(report, options.report_bytes);
  std::fprintf(stdout, "%s\n", text.c_str());
  tell(write_termination_log(options.termination_log, text));
  if (!report.reason.empty()) return report.reason == api::kTransferStopped ? kStoppedCode : kFailed;
  const auto stored = store.store_whole(text);
  tell(stored);
  return stored ? 0 : kFailed;
}

}  // namespace gpupool::carry
