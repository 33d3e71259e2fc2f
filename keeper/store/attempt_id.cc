// SPDX-License-Identifier: Apache-2.0
#include "store/attempt_id.h"

#include <algorithm>

namespace gpupool::keeper {
namespace {

constexpr std::size_t kLongestName = 253;

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

bool is_folder_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_letter_or_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.'; });
}

std::string folder_of(const AttemptId& id) { return id.ns + "/" + id.uid + "/" + std::to_string(id.lease); }

}  // namespace gpupool::keeper
