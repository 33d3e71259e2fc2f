// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/resources.h"

#include <algorithm>

#include "base/quantity.h"

namespace gpupool::planning {
namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return a > Resources::kMost - b ? Resources::kMost : a + b;
}

// Returns the position of the resource, or of the first one after it.
template <class Others>
auto place_of(Others& others, std::string_view resource) {
  return std::lower_bound(others.begin(), others.end(), resource,
                          [](const auto& entry, std::string_view name) { return entry.first < name; });
}

// The text of a quantity in JSON: a string or a number.
std::string_view unquoted(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') return json.substr(1, json.size() - 2);
  return json;
}

std::string milli_text(std::int64_t milli) {
  auto text = std::to_string(milli / 1000);
  if (milli % 1000 == 0) return text;
  auto rest = std::to_string(1000 + milli % 1000).substr(1);
  while (rest.back() == '0') rest.pop_back();
  return text + "." + rest;
}

}  // namespace

std::int64_t Resources::of(std::string_view resource) const {
  if (resource == "cpu") return milli_cpu;
  if (resource == "memory") return memory;
  if (resource == "ephemeral-storage") return ephemeral_storage;
  if (resource == "pods") return pods;
  const auto found = place_of(others, resource);
  return found != others.end() && found->first == resource ? found->second : 0;
}

void Resources::read(std::string_view resource, std::string_view quantity) {
  const auto amount =
      resource == "cpu" ? base::parse_milli_quantity(quantity) : base::parse_quantity(quantity);
  set(resource, amount.value_or(0));
}

void Resources::set(std::string_view resource, std::int64_t amount) {
  amount = std::max<std::int64_t>(0, amount);
  if (resource == "cpu") {
    milli_cpu = amount;
  } else if (resource == "memory") {
    memory = amount;
  } else if (resource == "ephemeral-storage") {
    ephemeral_storage = amount;
  } else if (resource == "pods") {
    pods = amount;
  } else {
    const auto found = place_of(others, resource);
    const bool known = found != others.end() && found->first == resource;
    if (known && amount == 0) {
      others.erase(found);
    } else if (known) {
      found->second = amount;
    } else if (amount > 0) {
      others.insert(found, {std::string(resource), amount});
    }
  }
}

Resources& Resources::operator+=(const Resources& more) {
  more.each([&](std::string_view name, std::int64_t amount) { set(name, sum(of(name), amount)); });
  return *this;
}

void Resources::raise_to(const Resources& other) {
  other.each([&](std::string_view name, std::int64_t amount) { set(name, std::max(of(name), amount)); });
}

std::string amount_text(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu") return milli_text(amount) + (amount == 1000 ? " CPU" : " CPUs");
  if (resource == "memory" || resource == "ephemeral-storage")
    return base::format_binary(amount) + " of " + std::string(resource);
  return std::to_string(amount) + " " + std::string(resource);
}

Resources allocatable_of(const std::map<std::string, std::string>& allocatable) {
  Resources all;
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"}) {
    if (!allocatable.contains(name)) all.set(name, Resources::kMost);
  }
  for (const auto& [name, quantity] : allocatable) all.read(name, quantity);
  return all;
}

std::int64_t pods_that_fit(const Resources& all, const Resources& held, const Resources& each) {
  auto fit = std::max<std::int64_t>(0, all.pods - held.pods);
  each.each([&](std::string_view name, std::int64_t amount) {
    fit = std::min(fit, std::max<std::int64_t>(0, all.of(name) - held.of(name)) / amount);
  });
  return fit;
}

Resources requests_of(const api::TemplateResources& resources) {
  Resources requests;
  for (const auto& [name, quantity] : resources.limits) requests.read(name, unquoted(quantity.text));
  for (const auto& [name, quantity] : resources.requests) requests.read(name, unquoted(quantity.text));
  return requests;
}

}  // namespace gpupool::planning
