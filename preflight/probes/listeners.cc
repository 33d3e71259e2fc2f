// SPDX-License-Identifier: Apache-2.0
#include "probes/listeners.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>

namespace gpupool::probes {
namespace {

constexpr std::size_t kWord = 8;  // hexadecimal digits of 32 bits

template <class Number>
std::optional<Number> hexadecimal(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// "0100007F:280A": words in the machine's order, which hold bytes in network order.
bool parse_address(const std::string& text, bool v6, Listener& listener) {
  const std::size_t words = v6 ? 4 : 1;
  if (text.size() != words * kWord + 5 || text[words * kWord] != ':') return false;
  for (std::size_t i = 0; i < words; ++i) {
    const auto word = hexadecimal<std::uint32_t>(std::string_view(text).substr(i * kWord, kWord));
    if (!word) return false;
    std::memcpy(&listener.address[i * sizeof *word], &*word, sizeof *word);
  }
  const auto port = hexadecimal<std::uint16_t>(std::string_view(text).substr(words * kWord + 1));
  listener.port = port.value_or(0);
  listener.v6 = v6;
  return port.has_value();
}

// proc(5): sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
void add_listeners(const std::string& table, bool v6, std::vector<Listener>& all) {
  constexpr char kListen[] = "0A";
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    std::string skipped;
    Listener listener;
    words >> number >> local >> remote >> state >> skipped >> skipped >> skipped >> skipped >> skipped >>
        listener.inode;
    if (words && state == kListen && parse_address(local, v6, listener)) all.push_back(listener);
  }
}

}  // namespace

std::optional<std::vector<Listener>> listeners(const HostRoot& root) {
  const auto v4 = root.read("/proc/net/tcp");
  if (!v4) return std::nullopt;
  std::vector<Listener> all;
  add_listeners(*v4, false, all);
  add_listeners(root.read("/proc/net/tcp6").value_or(""), true, all);
  return all;
}

}  // namespace gpupool::probes
