// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "base/json.h"
#include "base/log_limit.h"
#include "base/rfc3339.h"

namespace gpupool::base {

namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLevels{{
    {"debug", LogLevel::kDebug},
    {"info", LogLevel::kInfo},
    {"warning", LogLevel::kWarning},
    {"error", LogLevel::kError},
}};

// Longer values, such as the output of a user's program, are cut.
constexpr std::size_t kMaxValueBytes = 4096;

std::string quoted_value(const std::string& value) {
  if (value.size() <= kMaxValueBytes) return json::quote(value);
  return json::quote(value.substr(0, kMaxValueBytes) + "...");
}

std::string_view level_name(LogLevel level) {
  for (const auto& [name, value] : kLevels) {
    if (value == level) return name;
  }
  return "unknown";
}

// Returns one JSON object. If several fields have the same key, only the last one is written.
std::string to_json(std::span<const LogField> fields) {
  std::string line = "{";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const LogField& field = fields[i];
    const auto later = fields.subspan(i + 1);
    const auto same_key = [&](const LogField& other) { return other.key == field.key; };
    if (std::any_of(later.begin(), later.end(), same_key)) continue;
    if (line.size() > 1) line += ',';
    line += json::quote(field.key);
    line += ':';
    line += field.quoted ? quoted_value(field.value) : field.value;
  }
  return line + "}";
}

}  // namespace

Log::Log(LogLevel level)
    : level_(level),
      logger_(std::make_shared<spdlog::logger>("gpupool", std::make_shared<spdlog::sinks::stderr_sink_mt>())),
      limit_(std::make_shared<LogLimit>()) {
  logger_->set_pattern("%v");
  logger_->set_level(spdlog::level::trace);
}

Log Log::none() { return Log(); }

Log Log::with(std::initializer_list<LogField> fields) const {
  Log copy(*this);
  copy.fields_.insert(copy.fields_.end(), fields.begin(), fields.end());
  return copy;
}

void Log::debug(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kDebug, message, fields);
}

void Log::info(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kInfo, message, fields);
}

void Log::warning(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kWarning, message, fields);
}

void Log::error(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kError, message, fields);
}

bool Log::may_write(LogLevel level, std::string_view message, std::uint64_t& left_out) const {
  if (!logger_ || level < level_) return false;
  if (level_ == LogLevel::kDebug) return true;  // no limit at this level
  std::string key = fields_.empty() ? std::string() : fields_.front().value;
  key += '\n';
  key += message;
  const auto admitted = limit_->admit(key, std::chrono::steady_clock::now());
  left_out = admitted.value_or(0);
  return admitted.has_value();
}

void Log::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  std::uint64_t left_out = 0;
  if (!may_write(level, message, left_out)) return;
  std::vector<LogField> all{
      {"ts", to_rfc3339_micro(std::chrono::system_clock::now())},
      {"level", level_name(level)},
      {"msg", message},
  };
  all.insert(all.end(), fields_.begin(), fields_.end());
  all.insert(all.end(), fields.begin(), fields.end());
  if (left_out > 0) all.emplace_back("leftOut", left_out);
  logger_->log(spdlog::level::critical, spdlog::string_view_t(to_json(all)));
}

bool parse_log_level(std::string_view text, LogLevel& level) {
  for (const auto& [name, value] : kLevels) {
    if (name == text) return level = value, true;
  }
  return false;
}

}  // namespace gpupool::base
