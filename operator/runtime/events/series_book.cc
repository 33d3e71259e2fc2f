#include "runtime/events/series_book.h"

#include <algorithm>

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
    series_.erase(found);
    return {Step::kCreate};
  }
  ++series.now.count;
  series.now.last_observed = event.time;
  series.last_seen = now;
  if (series.now.count == 2 || now - series.last_sent >= kRefresh) return {Step::kPatch, series.send(now)};
  return {Step::kNothing};
}

void SeriesBook::created(const Event& event, const api::ObjectKey& name, base::SteadyTime now) {
  if (series_.size() >= kMaxSeries) make_room();
  series_[id(event)] = {{name, 1, event.time}, 1, now, now};
}

void SeriesBook::forget(const Event& event) { series_.erase(id(event)); }

std::vector<SeriesBook::Patch> SeriesBook::sweep(base::SteadyTime now) {
  std::vector<Patch> patches;
  for (auto it = series_.begin(); it != series_.end();) {
    auto& series = it->second;
    const bool ended = now - series.last_seen >= kQuiet;
    const bool unsent = series.now.count > series.sent_count;
    if (unsent && (ended || now - series.last_sent >= kRefresh)) patches.push_back(series.send(now));
    it = ended ? series_.erase(it) : std::next(it);
  }
  return patches;
}

void SeriesBook::make_room() {
  const auto oldest =
      std::ranges::min_element(series_, {}, [](const auto& entry) { return entry.second.last_seen; });
  series_.erase(oldest);
}

}  // namespace gpupool::runtime
