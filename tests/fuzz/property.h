// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpupool::fuzz {

// Throws, which is a finding, unless it holds.
void require(bool holds, const std::string& what);

// An error tells people what is wrong.
void require_explained(const base::Error& error);

// As nlohmann's parser sees it.
bool is_json(std::string_view text);

// The pieces between separators; one more than there are separators.
std::vector<std::string> split(std::string_view text, char separator);

// Takes the text up to the next line break off the front.
std::string take_line(std::string_view& input);
// Takes one byte; 0 if there is none.
unsigned take_byte(std::string_view& input);

}  // namespace gpupool::fuzz
