// SPDX-License-Identifier: Apache-2.0
#include "results/places.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "push/place_names.h"

namespace gpupool::results {
namespace {

tl::unexpected<base::Error> nothing(std::string message) {
  return base::fail(base::ErrorCode::kNotFound, std::move(message));
}

// A path below the work directory, without slashes at its end.
std::string below_work(std::string_view path) {
  const std::string_view work = api::kWorkDirectory;
  if (path.starts_with(work) && path.size() > work.size() && path[work.size()] == '/')
    path.remove_prefix(work.size() + 1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

base::Result<std::int64_t> attempt_of(const api::GpuJob& job, const Choice& choice) {
  const auto& status = job.status;
  if (choice.attempt) {
    if (*choice.attempt < status.attempts) return *choice.attempt;
    return nothing("job " + job.metadata.name + " has no attempt " + std::to_string(*choice.attempt) +
                   ": it has begun " + std::to_string(status.attempts) + ", and the first is 0");
  }
  if (status.results) return status.results->attempt;
  if (status.lease) return status.lease->attempt;
  if (status.attempts > 0) return status.attempts - 1;
  return nothing("job " + job.metadata.name + " has not run yet, so it has left nothing");
}

// What the status says of this entry in this attempt.
void add_state(const api::GpuJob& job, std::size_t index, Place& place) {
  const auto& told = job.status.results;
  if (!told || told->attempt != place.attempt || index >= told->items.size()) {
    if (job.status.lease && job.status.lease->attempt == place.attempt && !job.status.lease->state.empty())
      place.why = "attempt " + std::to_string(place.attempt) + " has not ended yet";
    return;
  }
  const auto& item = told->items[index];
  place.skipped = item.state == api::transfer_state::kSkipped;
  place.why = item.message;
}

Place place_of(const api::GpuJob& job, const api::JobResult& result, std::int64_t rank,
               std::int64_t attempt) {
  const carry::PlaceNames names{
      .job = job.metadata.name, .ns = job.metadata.ns, .attempt = attempt, .rank = rank};
  Place place{.from = below_work(result.from),
              .rank = rank,
              .attempt = attempt,
              .to = result.to,
              .secret = result.secret};
  place.directory = place.from;
  if (result.ranks.size() > 1) place.directory += "/rank-" + std::to_string(rank);
  if (place.to.s3) {
    auto& prefix = place.to.s3->prefix;
    prefix = carry::fill_in(std::move(prefix), names);
    while (prefix.ends_with('/')) prefix.pop_back();
    if (!prefix.empty()) prefix += '/';
  }
  if (place.to.volume) place.to.volume->path = carry::fill_in(place.to.volume->path, names);
  return place;
}

void add_place(Place place, std::vector<Place>& places) {
  const auto same = std::ranges::find(places, place.directory, &Place::directory);
  if (same == places.end()) {
    places.push_back(std::move(place));
  } else if (same->to.volume && place.to.s3) {
    *same = std::move(place);
  }
}

}  // namespace

base::Result<std::vector<Place>> places_of(const api::GpuJob& job, const Choice& choice) {
  if (!job.spec.results)
    return nothing("job " + job.metadata.name + " has no spec.results: it saves nothing (run --result)");
  const auto all = base::json::read<std::vector<api::JobResult>>(job.spec.results->text);
  if (!all) return base::in_context(all.error(), "spec.results");
  const auto attempt = attempt_of(job, choice);
  if (!attempt) return tl::unexpected<base::Error>(attempt.error());
  const std::string from = below_work(choice.from);
  std::vector<Place> places;
  std::string names;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto& result = (*all)[i];
    names += (i > 0 ? ", " : "") + below_work(result.from);
    if (!from.empty() && below_work(result.from) != from) continue;
    for (const auto rank : result.ranks.empty() ? std::vector<std::int64_t>{0} : result.ranks) {
      if (choice.rank && *choice.rank != rank) continue;
      Place place = place_of(job, result, rank, *attempt);
      add_state(job, i, place);
      add_place(std::move(place), places);
    }
  }
  if (!places.empty()) return places;
  std::string wanted = from.empty() ? std::string("results") : from;
  if (choice.rank) wanted += " of rank " + std::to_string(*choice.rank);
  return nothing("job " + job.metadata.name + " does not save " + wanted + "; it saves " + names);
}

}  // namespace gpupool::results
