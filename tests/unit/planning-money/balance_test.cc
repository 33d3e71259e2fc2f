// SPDX-License-Identifier: Apache-2.0
#include "planning/accounts/balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr base::Micros kEuro = 1'000'000;

api::GpuAccount account(std::vector<std::int64_t> warn_at = {}) {
  api::GpuAccount made;
  made.metadata.name = "team-a";
  made.spec.currency = "EUR";
  made.spec.budget = api::AccountBudget{"100", api::budget_period::kMonth};
  made.spec.warn_at = std::move(warn_at);
  return made;
}

TEST(Balance, AJobStartsIfTenMinutesOfEverythingCanBePaid) {
  const Balance balance{100 * kEuro, 90 * kEuro, 30 * kEuro};  // 10 left, 5 for what is held
  EXPECT_FALSE(shortfall(account(), balance, 30 * kEuro));
  const auto problem = shortfall(account(), balance, 31 * kEuro);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, api::reason::kBudgetExhausted);
  EXPECT_THAT(problem->message, HasSubstr("team-a (100.000000 EUR a month)"));
}

// Each change of a message is a write of the job.
TEST(Balance, TheMessageDoesNotChangeWithWhatIsSpent) {
  const auto one = shortfall(account(), {100 * kEuro, 99 * kEuro, 0}, 60 * kEuro);
  const auto other = shortfall(account(), {100 * kEuro, 98 * kEuro, 20 * kEuro}, 60 * kEuro);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->message, other->message);
}

TEST(Balance, IsExhaustedAtItsAmount) {
  EXPECT_FALSE((Balance{100 * kEuro, 100 * kEuro - 1, 0}).exhausted());
  EXPECT_TRUE((Balance{100 * kEuro, 100 * kEuro, 0}).exhausted());
  const auto problem = shortfall(account(), {100 * kEuro, 100 * kEuro, 0}, 0);
  ASSERT_TRUE(problem);
  EXPECT_THAT(problem->message, HasSubstr("has spent its budget of 100.000000 EUR a month"));
}

TEST(Balance, TellsTheHighestPercentage) {
  const auto at = [](base::Micros spent) { return warning(account({80, 95}), {100 * kEuro, spent, 0}); };
  EXPECT_EQ(at(80 * kEuro - 1), std::nullopt);
  EXPECT_EQ(at(80 * kEuro), 80);
  EXPECT_EQ(at(200 * kEuro), 95);
}

TEST(Balance, KnowsTheSecondOfTheNextChange) {
  const auto in = [](base::Micros spent, base::Micros rate) {
    return until_next_change(account({80}), {100 * kEuro, spent, rate});
  };
  EXPECT_EQ(in(79 * kEuro, 3600 * kEuro), seconds(1)) << "a percentage";
  EXPECT_EQ(in(90 * kEuro, 3600 * kEuro), seconds(10)) << "the budget";
  EXPECT_EQ(in(90 * kEuro, 3601 * kEuro), seconds(10)) << "rounded up";
  EXPECT_EQ(in(90 * kEuro, 0), std::nullopt);
  EXPECT_EQ(in(100 * kEuro, 3600 * kEuro), std::nullopt) << "nothing is left to happen";
}

TEST(Balance, WithoutABudgetThereIsNone) {
  auto free = account();
  EXPECT_EQ(budget_of(free), 100 * kEuro);
  free.spec.budget.reset();
  EXPECT_EQ(budget_of(free), std::nullopt);
}

}  // namespace
}  // namespace gpupool::planning
