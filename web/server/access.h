// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace gpupool::web {

// One question to the API server: may the visitor do this? As of SelfSubjectAccessReview.
struct Question {
  std::string verb;
  std::string group = {};
  std::string resource;
  std::string subresource = {};
  std::string ns = {};  // empty: in all namespaces
};

inline constexpr std::size_t kMostQuestions = 20;  // of one request

// Reads [{"verb","group","resource","subresource","namespace"}...]. kInvalidArgument, for people.
base::Result<std::vector<Question>> read_questions(std::string_view json);

// Asks the API server, as the visitor. Any user that it knows may ask.
base::Result<bool> may(kube::Client& client, const Question& question, const std::stop_token& stop);

}  // namespace gpupool::web
