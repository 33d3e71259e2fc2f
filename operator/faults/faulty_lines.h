// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "faults/fault_plan.h"
#include "net/line_splitter.h"

namespace gpupool::faults {

// Applies faults to the lines of one watch, between the server and its reader. Used by the stream's thread.
class FaultyLines {
 public:
  // drip: delivers each byte separately. note: called for each fault. REQUIRES: everything referenced
  // outlives this.
  FaultyLines(FaultPlan& plan, std::string key, const net::BodySink& sink, base::Clock& clock,
              std::stop_token stop, bool drip, std::function<void(Fault)> note);

  // Returns false if the stream ends, because of the reader or of a fault.
  bool feed(std::string_view piece);
  // The fault that ended the stream; nullopt if none did.
  const std::optional<Fault>& end() const { return end_; }

 private:
  bool line(std::string_view text);
  bool pass(std::string_view text);
  bool huge_line();
  bool end_with(Fault fault);

  FaultPlan& plan_;
  std::string key_;
  const net::BodySink& sink_;
  base::Clock& clock_;
  std::stop_token stop_;
  bool drip_;
  std::function<void(Fault)> note_;
  net::LineSplitter splitter_;
  std::optional<Fault> end_;
};

}  // namespace gpupool::faults
