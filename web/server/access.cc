// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include <array>
#include <nlohmann/json.hpp>

namespace gpupool::web {
namespace {

using nlohmann::json;

constexpr std::array kMembers = {std::pair{"verb", &Question::verb}, std::pair{"group", &Question::group},
                                 std::pair{"resource", &Question::resource},
                                 std::pair{"subresource", &Question::subresource},
                                 std::pair{"namespace", &Question::ns}};

}  // namespace

base::Result<std::vector<Question>> read_questions(std::string_view text) {
  const auto bad = [](const char* why) { return base::fail(base::ErrorCode::kInvalidArgument, why); };
  const json list = json::parse(text, nullptr, false);
  if (!list.is_array()) return bad("the body is not a list");
  if (list.size() > kMostQuestions) return bad("more than 20 questions");
  std::vector<Question> questions;
  for (const json& object : list) {
    if (!object.is_object()) return bad("a question is not an object");
    Question question;
    for (const auto& [name, member] : kMembers) {
      const auto found = object.find(name);
      if (found == object.end()) continue;
      if (!found->is_string()) return bad("a member of a question is not a string");
      question.*member = found->get<std::string>();
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

}  // namespace gpupool::web
