// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/substitution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::planning {
namespace {

using testing::ElementsAre;

std::string filled(const std::string& text) {
  return substitute(text, [](std::string_view name) -> std::optional<std::string> {
    if (name == "lr") return "0.1";
    if (name == "data") return "a b$(c)$$";
    return std::nullopt;
  });
}

TEST(Substitution, ReplacesReferences) {
  EXPECT_EQ(filled("--lr=$(lr)"), "--lr=0.1");
  EXPECT_EQ(filled("$(lr)$(lr) $(lr)"), "0.10.1 0.1");
  EXPECT_EQ(filled(""), "");
  EXPECT_EQ(filled("plain"), "plain");
}

TEST(Substitution, LeavesToTheKubeletWhatIsNoParameter) {
  for (const auto* text : {"$(HOME)", "$$(lr)", "$$$$(lr)", "$(lr", "$", "$$", "$(", "$()", "$(cat x)",
                           "${lr}", "a$b", "$(lr x)", "$(1)"}) {
    EXPECT_EQ(filled(text), text);
  }
}

TEST(Substitution, AnEscapeDoesNotReachTheNextReference) {
  EXPECT_EQ(filled("$$$(lr)"), "$$0.1");
  EXPECT_EQ(filled("$(cat $(lr))"), "$(cat 0.1)");
}

TEST(Substitution, TheKubeletPassesOnTheValueAsItIs) {
  EXPECT_EQ(filled("$(data)"), "a b$$(c)$$$$");
  EXPECT_EQ(escape_dollars("5$"), "5$$");
}

TEST(Substitution, NamesReferences) {
  EXPECT_THAT(references_in("$(lr) $$(x) $(a.b-c) $(cat x) $(date)"), ElementsAre("lr", "a.b-c", "date"));
}

}  // namespace
}  // namespace gpupool::planning
