// SPDX-License-Identifier: Apache-2.0
#include "launcher/metric_json.h"

#include <algorithm>
#include <optional>
#include <string>

#include "api/worker_result_format.h"
#include "launcher/metric_number.h"

namespace gpupool::launcher {
namespace {

constexpr int kMaxDepth = 8;

// Reads one JSON text from its front. Each function returns false where the text is not JSON.
class Reader {
 public:
  Reader(std::string_view text, Metrics& metrics) : text_(text), metrics_(metrics) {}

  bool whole_object() { return object(0) && (skip_space(), text_.empty()); }

 private:
  bool object(int depth) {
    if (!take('{')) return false;
    if (take('}')) return true;
    for (;;) {
      std::string_view key;
      if (!string(key) || !take(':')) return false;
      const std::size_t length = name_.size();
      if (!name_.empty()) name_ += '.';
      if (name_.size() + key.size() <= api::worker_result::kMaxMetricNameBytes) name_ += key;
      const bool read = value(depth);
      name_.resize(length);
      if (!read) return false;
      if (take('}')) return true;
      if (!take(',')) return false;
    }
  }

  bool array(int depth) {
    if (!take('[')) return false;
    if (take(']')) return true;
    for (;;) {
      ++arrays_;
      const bool read = value(depth);
      --arrays_;
      if (!read) return false;
      if (take(']')) return true;
      if (!take(',')) return false;
    }
  }

  bool value(int depth) {
    skip_space();
    if (text_.empty() || depth > kMaxDepth) return false;
    switch (text_.front()) {
      case '{':
        return object(depth + 1);
      case '[':
        return array(depth + 1);
      case '"': {
        std::string_view content;
        if (!string(content)) return false;
        add(content);
        return true;
      }
      default:
        return word();
    }
  }

  // A number, true, false, null, or NaN and Infinity as Python writes them.
  bool word() {
    const std::size_t end = std::min(text_.find_first_of(",}] \t"), text_.size());
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    if (word == "true" || word == "false" || word == "null") return true;
    return add(word);
  }

  // True if all of the text is a number.
  bool add(std::string_view text) {
    const std::optional<NumberInText> number = read_number(text);
    if (!number || number->rest.find_first_not_of(" \t") != std::string_view::npos) return false;
    if (arrays_ == 0) metrics_.add(name_, number->value);
    return true;
  }

  bool string(std::string_view& content) {
    if (!take('"')) return false;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '"') {
        content = text_.substr(0, i);
        text_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t')) text_.remove_prefix(1);
  }

  bool take(char wanted) {
    skip_space();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
  Metrics& metrics_;
  std::string name_;
  int arrays_ = 0;  // that the text is in
};

}  // namespace

bool read_json_numbers(std::string_view object, Metrics& metrics) {
  return Reader(object, metrics).whole_object();
}

}  // namespace gpupool::launcher
