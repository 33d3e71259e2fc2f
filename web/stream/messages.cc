// SPDX-License-Identifier: Apache-2.0
#include "stream/messages.h"

#include <nlohmann/json.hpp>

namespace gpupool::web {
namespace {

using nlohmann::json;

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string columns_message(const std::string& id, const std::vector<std::string>& columns) {
  return dumped({{"id", id}, {"columns", columns}, {"reset", true}});
}

std::string rows_message(const std::string& id, const std::vector<Row>& rows) {
  json list = json::array();
  for (const Row& row : rows) list.push_back({row.key, row.cells});
  return dumped({{"id", id}, {"rows", std::move(list)}});
}

std::string objects_message(const std::string& id,
                            const std::vector<std::pair<std::string, std::string>>& objects, bool reset) {
  // The objects are JSON already.
  std::string text = R"({"id":)" + dumped(id) + (reset ? R"(,"reset":true)" : "") + R"(,"objects":[)";
  bool first = true;
  for (const auto& [key, object] : objects) {
    text += (first ? "[" : ",[") + dumped(key) + "," + object + "]";
    first = false;
  }
  return text + "]}";
}

std::string complete_message(const std::string& id) { return dumped({{"id", id}, {"complete", true}}); }

std::string gone_message(const std::string& id, const std::string& key) {
  return dumped({{"id", id}, {"gone", {key}}});
}

std::string error_message(const std::string& id, const base::Error& error) {
  return dumped({{"id", id},
                 {"error",
                  {{"status", error.http_status},
                   {"reason", base::to_string(error.code)},
                   {"message", error.message}}}});
}

std::string ping_message() { return R"({"ping":true})"; }

std::string log_begin_message(const std::string& id) { return dumped({{"id", id}, {"begin", true}}); }

std::string lines_message(const std::string& id, const std::vector<ShownLine>& lines) {
  json list = json::array();
  for (const ShownLine& line : lines) list.push_back({line.rank, line.unix_ms, line.text});
  return dumped({{"id", id}, {"lines", std::move(list)}});
}

std::string note_message(const std::string& id, std::string_view text, bool problem) {
  return dumped({{"id", id}, {"note", text}, {"problem", problem}});
}

std::string log_end_message(const std::string& id) { return dumped({{"id", id}, {"end", true}}); }

base::Result<std::pair<std::string, std::string>> shown_object(std::string_view text) {
  json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("metadata") || !object["metadata"].is_object())
    return base::fail(base::ErrorCode::kParse, "an object without metadata");
  json& metadata = object["metadata"];
  metadata.erase("managedFields");
  if (auto notes = metadata.find("annotations"); notes != metadata.end() && notes->is_object())
    notes->erase("kubectl.kubernetes.io/last-applied-configuration");
  const std::string ns = metadata.value("namespace", "");
  const std::string name = metadata.value("name", "");
  return std::pair{ns.empty() ? name : ns + "/" + name, dumped(object)};
}

}  // namespace gpupool::web
