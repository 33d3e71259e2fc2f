// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpupool::kube {

// RFC 4648 with padding; line breaks and spaces are skipped. Returns nothing if the text is not base64.
std::optional<std::string> base64_decode(std::string_view text);
std::string base64_encode(std::string_view bytes);

}  // namespace gpupool::kube
