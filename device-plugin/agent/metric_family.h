// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace gpupool::agent {

// One metric of Prometheus' text format with all its series. For metrics that are made anew for each answer;
// those that count go through base::Metrics. Not thread-safe.
class Family {
 public:
  using Labels = std::initializer_list<std::pair<const char*, std::string>>;

  explicit Family(std::string name, const std::string& help, const std::string& type = "gauge");

  // value: as it is printed.
  void add(Labels labels, const std::string& value);
  // Empty without series.
  std::string text() const { return body_.empty() ? "" : head_ + body_; }

 private:
  const std::string name_;
  const std::string head_;
  std::string body_;
};

}  // namespace gpupool::agent
