// SPDX-License-Identifier: Apache-2.0
#include "kube/config/base64.h"

#include <cstdint>

namespace gpupool::kube {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding > 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    if (++digits % 4 == 0) {
      out += static_cast<char>((bits >> 16U) & 0xffU);
      out += static_cast<char>((bits >> 8U) & 0xffU);
      out += static_cast<char>(bits & 0xffU);
      bits = 0;
    }
  }
  const int rest = digits % 4;
  if (rest == 1 || padding != (rest == 0 ? 0 : 4 - rest)) return std::nullopt;
  if (rest >= 2) out += static_cast<char>((bits >> (rest == 2 ? 4U : 10U)) & 0xffU);
  if (rest == 3) out += static_cast<char>((bits >> 2U) & 0xffU);
  return out;
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits <<= 8U;
      if (i + j < bytes.size()) bits |= static_cast<unsigned char>(bytes[i + j]);
    }
    const std::size_t have = bytes.size() - i;
    out += kAlphabet[(bits >> 18U) & 63U];
    out += kAlphabet[(bits >> 12U) & 63U];
    out += have > 1 ? kAlphabet[(bits >> 6U) & 63U] : '=';
    out += have > 2 ? kAlphabet[bits & 63U] : '=';
  }
  return out;
}

}  // namespace gpupool::kube
