// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gpupool::screen {

// Adds "Title:      text", with further lines below the first one; nothing for an empty text. REQUIRES: the
// text is plain (plain_text.h), apart from colours.
void add_field(std::string& all, std::string_view title, std::string_view text);

}  // namespace gpupool::screen
