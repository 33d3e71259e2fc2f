// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace spdlog {
class logger;
}

namespace gpupool::base {

class LogLimit;

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// One key and value of a log line. Keys are those of controller-runtime where it has one: controller,
// namespace, name, reconcileID.
struct LogField {
  std::string key;
  std::string value;
  bool quoted = true;  // false for numbers and booleans

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, bool v) : key(k), value(v ? "true" : "false"), quoted(false) {}
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  LogField(std::string_view k, T v) : key(k), value(std::to_string(v)), quoted(false) {}
};

// Structured log: one JSON object per line on stderr. Messages are constant text; what varies goes into
// fields. A repeated message is written at a bounded rate; its next line has the number of lines left out
// (leftOut). At level debug every line is written. Thread-safe; copies share the sink and the rates.
class Log {
 public:
  // level: the least severe level that is written.
  explicit Log(LogLevel level);
  // Discards every line; for tests.
  static Log none();

  // Returns a log that adds these fields to every line. The first field that a log ever gets names its part
  // of the program; each part has its own rates.
  Log with(std::initializer_list<LogField> fields) const;

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void warning(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const;

 private:
  Log() = default;
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const;

  bool may_write(LogLevel level, std::string_view message, std::uint64_t& left_out) const;

  LogLevel level_ = LogLevel::kError;
  std::shared_ptr<spdlog::logger> logger_;  // null: silent
  std::shared_ptr<LogLimit> limit_;
  std::vector<LogField> fields_;
};

// Parses "debug", "info", "warning" or "error". Returns false for any other text.
bool parse_log_level(std::string_view text, LogLevel& level);

}  // namespace gpupool::base
