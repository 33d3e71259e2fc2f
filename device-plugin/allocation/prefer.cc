// SPDX-License-Identifier: Apache-2.0
#include "allocation/prefer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "allocation/linked_gpus.h"

namespace gpupool::allocation {
namespace {

using settings::Policy;
using slices::Resource;
using slices::Slice;
using slices::SlicedGpu;

struct Candidate {
  const SlicedGpu* gpu = nullptr;
  std::int64_t total = 0;
  std::vector<const Slice*> must;
  std::vector<const Slice*> free;  // by ordinal, without those that must be
  std::size_t taken = 0;           // of `free`

  std::size_t left() const { return free.size() - taken; }
};

std::vector<Candidate> candidates_of(const Resource& resource, const std::vector<std::string>& available,
                                     const std::vector<std::string>& must_include) {
  const std::unordered_set<std::string_view> can(available.begin(), available.end());
  const std::unordered_set<std::string_view> must(must_include.begin(), must_include.end());
  std::vector<Candidate> candidates;
  std::unordered_map<std::string_view, std::size_t> place;
  for (const SlicedGpu& gpu : resource.gpus) {
    place.emplace(gpu.uuid, candidates.size());
    candidates.push_back({&gpu, 0, {}, {}, 0});
  }
  for (const Slice& slice : resource.slices) {
    const auto found = place.find(slice.gpu);
    if (found == place.end()) continue;
    Candidate& candidate = candidates[found->second];
    ++candidate.total;
    if (must.contains(slice.id)) {
      candidate.must.push_back(&slice);
    } else if (slice.healthy && can.contains(slice.id)) {
      candidate.free.push_back(&slice);
    }
  }
  return candidates;
}

class Preference {
 public:
  Preference(Policy policy, std::vector<Candidate> candidates)
      : policy_(policy), candidates_(std::move(candidates)) {
    for (Candidate& candidate : candidates_) {
      for (const Slice* slice : candidate.must) choose(candidate, slice);
    }
  }

  std::vector<std::string> take(std::size_t size) {
    if (policy_ == Policy::kDistinct) {
      take_distinct(size, false);
      while (chosen_.size() < size && take_distinct(size, true)) {
      }
    } else {
      take_together(size, true);
      take_together(size, false);
    }
    return std::move(chosen_);
  }

 private:
  void choose(const Candidate& candidate, const Slice* slice) {
    chosen_.push_back(slice->id);
    if (candidate.gpu->numa_node >= 0) numa_nodes_.insert(candidate.gpu->numa_node);
  }
  void take_from(Candidate& candidate, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) choose(candidate, candidate.free[candidate.taken++]);
  }

  bool is_near(const Candidate& candidate) const { return numa_nodes_.contains(candidate.gpu->numa_node); }

  // Whether `a` comes before `b`, apart from what is equal.
  bool is_emptier(const Candidate& a, const Candidate& b) const {
    const auto left_a = static_cast<std::int64_t>(a.left());
    const auto left_b = static_cast<std::int64_t>(b.left());
    return std::tuple(-left_a * b.total, -left_a, !is_near(a)) <
           std::tuple(-left_b * a.total, -left_b, !is_near(b));
  }
  bool is_fuller(const Candidate& a, const Candidate& b) const {
    return std::tuple(a.left(), !is_near(a)) < std::tuple(b.left(), !is_near(b));
  }
  bool has_more(const Candidate& a, const Candidate& b) const {
    return std::tuple(b.left(), !is_near(a)) < std::tuple(a.left(), !is_near(b));
  }

  // The candidates are in order of index, and of equal ones the first is best.
  template <class Fits, class Before>
  Candidate* best(Fits fits, Before before) {
    Candidate* result = nullptr;
    for (Candidate& candidate : candidates_) {
      if (candidate.left() > 0 && fits(candidate) && (result == nullptr || before(candidate, *result))) {
        result = &candidate;
      }
    }
    return result;
  }

  // From GPUs with slices that must be included only, or from the others.
  void take_together(std::size_t size, bool begun) {
    while (chosen_.size() < size) {
      const std::size_t wanted = size - chosen_.size();
      Candidate* one =
          best([&](const Candidate& c) { return !c.must.empty() == begun && c.left() >= wanted; },
               [&](const Candidate& a, const Candidate& b) {
                 return policy_ == Policy::kPack ? is_fuller(a, b) : is_emptier(a, b);
               });
      if (one == nullptr) {
        one = best([&](const Candidate& c) { return !c.must.empty() == begun; },
                   [&](const Candidate& a, const Candidate& b) { return has_more(a, b); });
      }
      if (one == nullptr) return;
      take_from(*one, std::min(wanted, one->left()));
    }
  }

  // One slice of each GPU, of those that gave none yet unless `again`. False if nothing was left.
  bool take_distinct(std::size_t size, bool again) {
    std::set<const Candidate*> done;
    while (chosen_.size() < size) {
      Candidate* one =
          best([&](const Candidate& c) { return !done.contains(&c) && (again || c.must.empty()); },
               [&](const Candidate& a, const Candidate& b) { return is_emptier(a, b); });
      if (one == nullptr) break;
      take_from(*one, 1);
      done.insert(one);
    }
    return !done.empty();
  }

  Policy policy_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> chosen_;
  std::set<std::int64_t> numa_nodes_;
};

std::vector<std::string> prefer_whole(const std::vector<Candidate>& candidates, std::size_t size,
                                      const std::vector<inventory::Gpu>& gpus) {
  std::vector<WholeGpu> whole;
  std::vector<const Slice*> devices;
  for (const Candidate& candidate : candidates) {
    if (candidate.must.empty() && candidate.free.empty()) continue;
    whole.push_back({candidate.gpu->uuid, candidate.gpu->numa_node, !candidate.must.empty()});
    devices.push_back(candidate.must.empty() ? candidate.free.front() : candidate.must.front());
  }
  std::vector<std::string> ids;
  for (const std::size_t place : linked_gpus(whole, size, gpus)) ids.push_back(devices[place]->id);
  return ids;
}

}  // namespace

std::vector<std::string> prefer(const Resource& resource, const std::vector<std::string>& available,
                                const std::vector<std::string>& must_include, std::size_t size,
                                const std::vector<inventory::Gpu>& gpus) {
  std::vector<Candidate> candidates = candidates_of(resource, available, must_include);
  const bool whole = std::all_of(resource.gpus.begin(), resource.gpus.end(),
                                 [](const SlicedGpu& gpu) { return gpu.split_count == 1; }) &&
                     std::all_of(resource.slices.begin(), resource.slices.end(),
                                 [](const Slice& slice) { return slice.visible == slice.gpu; });
  if (whole) return prefer_whole(candidates, size, gpus);
  return Preference(resource.policy, std::move(candidates)).take(size);
}

}  // namespace gpupool::allocation
