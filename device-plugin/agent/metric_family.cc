// SPDX-License-Identifier: Apache-2.0
#include "agent/metric_family.h"

namespace gpupool::agent {

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

Family::Family(std::string name, const std::string& help, const std::string& type)
    : name_(std::move(name)),
      head_("# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n") {}

void Family::add(Labels labels, const std::string& value) {
  body_ += name_ + "{";
  bool first = true;
  for (const auto& [key, text] : labels) {
    body_ += std::string(first ? "" : ",") + key + "=\"" + escaped(text) + "\"";
    first = false;
  }
  body_ += "} " + value + "\n";
}

}  // namespace gpupool::agent
