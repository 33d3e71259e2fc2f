// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace gpupool::launcher {

// A value, or a sentence for a person that says what went wrong.
template <typename T>
using Expected = tl::expected<T, std::string>;

inline tl::unexpected<std::string> failure(std::string what) {
  return tl::unexpected<std::string>(std::move(what));
}

// "<what>: <text of errno value `error`>".
std::string with_errno(std::string what, int error);

}  // namespace gpupool::launcher
