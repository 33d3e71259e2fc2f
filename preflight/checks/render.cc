// SPDX-License-Identifier: Apache-2.0
#include "checks/render.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gpupool::checks {
namespace {

constexpr std::size_t kVerdictWidth = 6;
constexpr std::size_t kNameWidth = 19;

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "fail";
  }
  return "";
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

// Line breaks in texts of files and servers must not look like further findings.
std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::string indented(const std::string& remedy) {
  std::string text;
  std::size_t begin = 0;
  while (begin < remedy.size()) {
    const auto end = std::min(remedy.find('\n', begin), remedy.size());
    text += std::string(kVerdictWidth + kNameWidth, ' ') + "-> " +
            one_line(remedy.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string as_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    // Capital letters, so that a failure stands out.
    const char* const verdict = finding.verdict == Verdict::kFail ? "FAIL" : word(finding.verdict);
    text +=
        padded(verdict, kVerdictWidth) + padded(finding.name, kNameWidth) + one_line(finding.found) + "\n";
    text += indented(finding.remedy);
  }
  return text;
}

std::string as_json(const std::vector<Finding>& findings) {
  auto checks = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    checks.push_back({{"name", finding.name},
                      {"verdict", word(finding.verdict)},
                      {"found", finding.found},
                      {"remedy", finding.remedy}});
  }
  const nlohmann::ordered_json all{{"verdict", word(worst(findings))}, {"checks", std::move(checks)}};
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Verdict worst(const std::vector<Finding>& findings) {
  Verdict all = Verdict::kOk;
  for (const Finding& finding : findings) all = std::max(all, finding.verdict);
  return all;
}

}  // namespace gpupool::checks
