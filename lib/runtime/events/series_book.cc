// SPDX-License-Identifier: Apache-2.0
#include "runtime/events/series_book.h"

#include <iterator>

namespace gpupool::runtime {

SeriesBook::Patch SeriesBook::Series::send(base::SteadyTime at) {
  sent_count = now.count;
  last_sent = at;
  return now;
}

SeriesBook::Id SeriesBook::id(const Event& event) {
  const auto& object = event.regarding;
  return {event.type,  event.reason,  event.action,    event.note, object.api_version,
          object.kind, object.key.ns, object.key.name, object.uid};
}

SeriesBook::Seen SeriesBook::see(const Event& event, base::SteadyTime now) {
  const auto found = series_.find(id(event));
  if (found == series_.end()) return {Step::kCreate};
  auto& series = found->second;
  if (now - series.last_seen >= kQuiet && series.sent_count == series.now.count) {
    drop(found);
    return {Step::kCreate};
  }
  ++series.now.count;
  series.now.last_observed = event.time;
  series.last_seen = now;
  by_age_.splice(by_age_.end(), by_age_, series.place);
  if (series.now.count == 2 || now - series.last_sent >= kRefresh) return {Step::kPatch, series.send(now)};
  return {Step::kNothing};
}

void SeriesBook::created(const Event& event, const api::ObjectKey& name, base::SteadyTime now) {
  forget(event);
  if (series_.size() >= kMaxSeries) drop(series_.find(*by_age_.front()));
  const auto [made, added] = series_.try_emplace(id(event));
  made->second = {{name, 1, event.time}, 1, now, now, by_age_.insert(by_age_.end(), &made->first)};
}

void SeriesBook::forget(const Event& event) {
  if (const auto found = series_.find(id(event)); found != series_.end()) drop(found);
}

std::vector<SeriesBook::Patch> SeriesBook::sweep(base::SteadyTime now) {
  std::vector<Patch> patches;
  for (auto it = series_.begin(); it != series_.end();) {
    auto& series = it->second;
    const bool ended = now - series.last_seen >= kQuiet;
    const bool unsent = series.now.count > series.sent_count;
    if (unsent && (ended || now - series.last_sent >= kRefresh)) patches.push_back(series.send(now));
    it = ended ? drop(it) : std::next(it);
  }
  return patches;
}

SeriesBook::Book::iterator SeriesBook::drop(Book::iterator series) {
  by_age_.erase(series->second.place);
  return series_.erase(series);
}

}  // namespace gpupool::runtime
