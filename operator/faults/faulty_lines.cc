// SPDX-License-Identifier: Apache-2.0
#include "faults/faulty_lines.h"

#include <utility>

#include "faults/server_errors.h"

namespace gpupool::faults {
namespace {

constexpr std::size_t kHugeLine = 20'000'000;

std::string error_event(const std::string& reason) {
  return R"({"type":"ERROR","object":)" + status_json(410, reason) + "}\n";
}

}  // namespace

FaultyLines::FaultyLines(FaultPlan& plan, std::string key, const net::BodySink& sink, base::Clock& clock,
                         std::stop_token stop, bool drip, std::function<void(Fault)> note)
    : plan_(plan),
      key_(std::move(key)),
      sink_(sink),
      clock_(clock),
      stop_(std::move(stop)),
      drip_(drip),
      note_(std::move(note)) {}

bool FaultyLines::feed(std::string_view piece) {
  bool more = true;
  const auto fed = splitter_.feed(piece, [&](std::string_view text) {
    more = line(text);
    return more;
  });
  return fed.has_value() && more;
}

bool FaultyLines::line(std::string_view text) {
  const auto whole = std::string(text) + "\n";
  const auto fault = plan_.decide(kLine, key_);
  if (!fault) return pass(whole);
  note_(fault->fault);
  switch (fault->fault) {
    case Fault::kLate:
      clock_.sleep_for(std::chrono::milliseconds(100 + fault->random % 1400), stop_);
      return pass(whole);
    case Fault::kDuplicate:
      return pass(whole) && pass(whole);
    case Fault::kExpiredEvent:
      return pass(error_event("Expired")) && end_with(Fault::kClosed);
    case Fault::kGoneEvent:
      return pass(error_event("Gone")) && end_with(Fault::kClosed);
    case Fault::kHugeLine:
      return huge_line() && end_with(Fault::kClosed);
    case Fault::kBrokenLine:
      return pass(whole.substr(0, fault->random % text.size()) + "\n");
    case Fault::kCutLine:
      return pass(std::string_view(whole).substr(0, fault->random % text.size())) && end_with(Fault::kClosed);
    default:
      return end_with(fault->fault);
  }
}

bool FaultyLines::pass(std::string_view text) {
  if (!drip_) return sink_(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!sink_(text.substr(i, 1))) return false;
  }
  return true;
}

bool FaultyLines::huge_line() {
  const std::string piece(100'000, 'x');
  for (std::size_t sent = 0; sent < kHugeLine; sent += piece.size()) {
    if (!sink_(piece)) return false;
  }
  return sink_("\n");
}

bool FaultyLines::end_with(Fault fault) {
  end_ = fault;
  return false;
}

}  // namespace gpupool::faults
