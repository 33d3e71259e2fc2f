// SPDX-License-Identifier: Apache-2.0
#include "reporting/report_json.h"

#include <nlohmann/json.hpp>

namespace gpupool::carry {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxMessage = 400;
constexpr std::size_t kShortMessage = 100;

void add_text(Json& to, const char* name, const std::string& text) {
  if (!text.empty()) to[name] = text;
}

std::string text_of(const api::TransferReport& report) {
  Json json = {{"version", api::kTransferReportVersion},
               {"attempt", report.attempt},
               {"bytes", report.bytes},
               {"milliseconds", report.milliseconds}};
  add_text(json, "reason", report.reason);
  add_text(json, "message", report.message);
  for (const auto& item : report.items) {
    Json one = {{"path", item.path}, {"files", item.files}, {"bytes", item.bytes}};
    add_text(one, "to", item.to);
    add_text(one, "state", item.state);
    add_text(one, "digest", item.digest);
    add_text(one, "message", item.message);
    json["items"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(api::TransferReport report, std::size_t max_bytes) {
  if (report.message.size() > kMaxMessage) report.message.resize(kMaxMessage);
  auto text = text_of(report);
  for (auto item = report.items.rbegin(); text.size() > max_bytes && item != report.items.rend(); ++item) {
    item->message.clear();
    text = text_of(report);
  }
  while (text.size() > max_bytes && !report.items.empty()) {
    report.items.pop_back();
    text = text_of(report);
  }
  if (text.size() > max_bytes) {
    report.message.resize(std::min(report.message.size(), kShortMessage));
    text = text_of(report);
  }
  return text;
}

}  // namespace gpupool::carry
