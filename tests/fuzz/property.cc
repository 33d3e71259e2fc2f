// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/property.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gpupool::fuzz {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error("does not hold: " + what);
}

void require_explained(const base::Error& error) { require(!error.message.empty(), "an error says why"); }

bool is_json(std::string_view text) { return nlohmann::json::accept(text); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.emplace_back(text);
  return pieces;
}

std::string take_line(std::string_view& input) {
  const auto end = input.find('\n');
  std::string line(input.substr(0, end));
  input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
  return line;
}

unsigned take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte;
}

}  // namespace gpupool::fuzz
