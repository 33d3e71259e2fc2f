// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/access_review.h"

namespace gpupool::web {

using Question = kube::AccessQuestion;

inline constexpr std::size_t kMostQuestions = 20;  // of one request

// Reads [{"verb","group","resource","subresource","namespace"}...]. kInvalidArgument, for people.
base::Result<std::vector<Question>> read_questions(std::string_view json);

}  // namespace gpupool::web
