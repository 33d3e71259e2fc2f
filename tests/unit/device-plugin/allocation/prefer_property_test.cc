// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

using settings::Policy;

struct Question {
  inventory::Inventory inventory;
  slices::Resource resource;
  std::vector<std::string> available;
  std::vector<std::string> must;  // of available
  std::size_t size = 0;
};

// Evenly, and not only small ones at first.
template <class T>
T pick(T from, T below) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(from, below));
}

template <class T>
void shuffle(std::vector<T>& items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[pick<std::size_t>(0, i)]);
}

Question any_question(std::size_t most_must) {
  Question question;
  const auto gpus = pick<std::int64_t>(1, 6);
  settings::Settings settings = slices::test::split(pick<std::int64_t>(1, 6));
  settings.resource_name = "example.com/gpu";
  settings.policy = *rc::gen::element(Policy::kPack, Policy::kSpread, Policy::kDistinct);
  if (*rc::gen::arbitrary<bool>()) settings.overrides = {test::split_gpu(0, pick<std::int64_t>(1, 8))};
  question.inventory = test::machine(gpus);
  for (auto& gpu : question.inventory.gpus) {
    gpu.numa_node = pick(-1, 2);
    for (std::int64_t peer = 0; peer < gpu.index; ++peer) {
      const auto distance = static_cast<inventory::Distance>(pick(0, 7));
      gpu.links.push_back({test::uuid(peer), distance, 1});
      question.inventory.gpus[static_cast<std::size_t>(peer)].links.push_back({gpu.uuid, distance, 1});
    }
  }
  question.resource = test::resource_of(question.inventory, settings);
  for (const auto& slice : question.resource.slices) {
    if (pick(0, 3) > 0) question.available.push_back(slice.id);
  }
  shuffle(question.available);
  const std::size_t must = std::min(most_must, question.available.size());
  question.must.assign(question.available.begin(),
                       question.available.begin() + static_cast<std::ptrdiff_t>(must));
  question.size = pick<std::size_t>(std::max<std::size_t>(must, 1), question.resource.slices.size() + 2);
  shuffle(question.available);
  return question;
}

std::vector<std::string> answer(const Question& question) {
  return prefer(question.resource, question.available, question.must, question.size, question.inventory.gpus);
}

std::map<std::string, std::size_t> by_gpu(const std::vector<std::string>& ids) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& id : ids) ++counts[id.substr(0, id.find("::"))];
  return counts;
}

RC_GTEST_PROP(PreferProperty, OnlyAvailableOnesWithAllThatMustBeAndAsManyAsAskedFor, ()) {
  const Question question = any_question(pick<std::size_t>(0, 4));
  const auto ids = answer(question);
  const std::set<std::string> chosen(ids.begin(), ids.end());
  const std::set<std::string> can(question.available.begin(), question.available.end());
  RC_ASSERT(chosen.size() == ids.size());
  RC_ASSERT(std::includes(can.begin(), can.end(), chosen.begin(), chosen.end()));
  for (const std::string& id : question.must) RC_ASSERT(chosen.contains(id));
  RC_ASSERT(ids.size() == std::min(question.size, question.available.size()));
}

RC_GTEST_PROP(PreferProperty, TheOrderOfTheArgumentsDoesNotMatter, ()) {
  Question question = any_question(pick<std::size_t>(0, 4));
  const auto ids = answer(question);
  shuffle(question.available);
  shuffle(question.must);
  RC_ASSERT(answer(question) == ids);
}

// What the plugin prefers it does not refuse, if anything of that size would be granted at all.
RC_GTEST_PROP(PreferProperty, WhatIsPreferredIsGrantedIfAnythingCouldBe, ()) {
  const Question question = any_question(0);
  RC_PRE(question.size <= question.available.size());
  const bool preferred_is_granted = allocate(question.resource, answer(question), {}, {}).has_value();
  std::vector<std::string> any = question.available;
  bool granted = preferred_is_granted;
  const auto free = by_gpu(question.available);
  if (question.resource.policy == Policy::kDistinct) {
    granted = free.size() >= question.size;
  } else if (std::any_of(free.begin(), free.end(),
                         [&](const auto& gpu) { return gpu.second >= question.size; })) {
    granted = true;
  } else {
    for (int i = 0; i < 10 && !granted; ++i) {
      shuffle(any);
      const std::vector<std::string> some(any.begin(),
                                          any.begin() + static_cast<std::ptrdiff_t>(question.size));
      granted = allocate(question.resource, some, {}, {}).has_value();
    }
  }
  RC_ASSERT(preferred_is_granted == granted);
}

// The rule as prefer.cc has it, written down once more in the plainest way.
RC_GTEST_PROP(PreferProperty, PackTakesTheGpuWithTheFewestFreeOnesThatSuffice, ()) {
  Question question = any_question(0);
  question.resource.policy = Policy::kPack;
  const bool whole = std::all_of(question.resource.gpus.begin(), question.resource.gpus.end(),
                                 [](const auto& gpu) { return gpu.split_count == 1; });
  RC_PRE(!whole);
  const auto free = by_gpu(question.available);
  std::string expected;
  for (const auto& gpu : question.resource.gpus) {
    const auto found = free.find(gpu.uuid);
    if (found == free.end() || found->second < question.size) continue;
    if (expected.empty() || found->second < free.at(expected)) expected = gpu.uuid;
  }
  RC_PRE(!expected.empty());
  const auto chosen = by_gpu(answer(question));
  RC_ASSERT(chosen.size() == 1U);
  RC_ASSERT(chosen.begin()->first == expected);
}

}  // namespace
}  // namespace gpupool::allocation
