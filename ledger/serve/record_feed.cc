// SPDX-License-Identifier: Apache-2.0
#include "serve/record_feed.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/json.h"
#include "runtime/cache/watch_event.h"

namespace gpupool::ledger {

base::Result<void> RecordFeed::item(std::string_view text) {
  auto record = base::json::read<api::GpuBillRecord>(text);
  if (!record) return tl::unexpected<base::Error>(record.error());
  const base::MutexLock lock(mutex_);
  listed_.push_back(*std::move(record));
  return {};
}

void RecordFeed::commit() {
  std::vector<api::GpuBillRecord> listed;
  {
    const base::MutexLock lock(mutex_);
    listed = std::exchange(listed_, {});
  }
  enter(listed);
}

void RecordFeed::abandon() {
  const base::MutexLock lock(mutex_);
  listed_.clear();
}

base::Result<std::string> RecordFeed::event(std::string_view type, std::string_view line) {
  auto changed = base::json::read<runtime::WatchEvent<api::GpuBillRecord>>(line);
  if (!changed) return tl::unexpected<base::Error>(changed.error());
  const auto version = changed->object.metadata.resource_version;
  if (type != "DELETED") {
    std::vector<api::GpuBillRecord> records;
    records.push_back(std::move(changed->object));
    enter(records);
  }
  return version;
}

void RecordFeed::enter(const std::vector<api::GpuBillRecord>& records) {
  if (records.empty()) return;
  std::vector<Fact> facts;
  for (const auto& record : records) std::ranges::move(facts_of(record), std::back_inserter(facts));
  intake_.enter(std::move(facts));
  const base::MutexLock lock(mutex_);
  for (const auto& record : records) entered_.push_back({record.metadata.name, record.metadata.uid});
}

std::vector<RecordFeed::Entered> RecordFeed::entered() {
  const base::MutexLock lock(mutex_);
  return entered_;
}

void RecordFeed::remove(const std::vector<Entered>& records, kube::Client& client,
                        const std::stop_token& stop) {
  std::set<std::string> gone;
  std::string error;
  for (const auto& record : records) {
    kube::DeleteOptions options;
    options.uid = record.uid;
    const auto removed = client.remove(api::GpuBillRecord::kType, {"", record.name}, options, stop);
    // A conflict: it is another one of that name, which comes with an event of its own.
    const bool is_gone = removed || removed.error().code == base::ErrorCode::kNotFound ||
                         removed.error().code == base::ErrorCode::kConflict;
    if (is_gone) {
      gone.insert(record.uid);
    } else {
      error = removed.error().message;
    }
  }
  const base::MutexLock lock(mutex_);
  if (!error.empty() && !failing_)
    log_.error("cannot delete GpuBillRecords that are in the books; trying again", {{"error", error}});
  failing_ = !error.empty();
  std::erase_if(entered_, [&](const auto& record) { return gone.contains(record.uid); });
}

}  // namespace gpupool::ledger
