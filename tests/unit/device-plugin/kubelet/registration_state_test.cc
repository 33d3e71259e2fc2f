// SPDX-License-Identifier: Apache-2.0
#include "kubelet/registration_state.h"

#include <gtest/gtest.h>

namespace gpupool::kubelet {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Answer = RegistrationState::Answer;
using Sight = RegistrationState::Sight;

constexpr base::FileIdentity kNone{};
constexpr base::FileIdentity kFirst{1, 100, 5};
constexpr base::FileIdentity kSecond{1, 100, 6};  // the inode number was used again

class RegistrationStateTest : public testing::Test {
 protected:
  // As the loop does: registers when told to. Returns whether it was.
  bool look(const Sight& sight, Answer answer = Answer::kAccepted) {
    next_ = state_.next(sight, now_);
    if (next_.register_now) state_.answered(answer, now_);
    return next_.register_now;
  }
  // Looks whenever it is time to, for so long; counts registrations.
  int look_for(base::Duration how_long, const Sight& sight, Answer answer) {
    int registrations = 0;
    for (const auto end = now_ + how_long; now_ < end;
         now_ += std::max<base::Duration>(next_.look_again, milliseconds(1))) {
      registrations += look(sight, answer) ? 1 : 0;
    }
    return registrations;
  }

  RegistrationState state_{42};
  base::SteadyTime now_{seconds(1000)};
  RegistrationState::Next next_;
};

TEST_F(RegistrationStateTest, Checklist05ANewKubeletSocketIsRegisteredWithAtOnce) {
  EXPECT_TRUE(look({kFirst, 0, 0}));
  EXPECT_FALSE(look({kFirst, 1, 1}));
  now_ += seconds(100);
  EXPECT_TRUE(look({kSecond, 1, 1}));
}

TEST_F(RegistrationStateTest, Checklist05ANewServerIsRegisteredAtOnce) {
  look({kFirst, 0, 0});
  state_.serving_anew();
  EXPECT_TRUE(look({kFirst, 0, 0}));
}

TEST_F(RegistrationStateTest, Checklist06LooksForTheKubeletEverMoreSlowlyButOften) {
  base::Duration shortest = seconds(9);
  for (int round = 0; round < 50; ++round) {
    EXPECT_FALSE(look({kNone, 0, 0}));
    EXPECT_LE(next_.look_again, seconds(1));
    shortest = std::min(shortest, next_.look_again);
  }
  EXPECT_LT(shortest, milliseconds(200));
  EXPECT_GT(next_.look_again, milliseconds(600));
}

TEST_F(RegistrationStateTest, Checklist06TwoPluginsDoNotTryInStep) {
  RegistrationState other(43);
  for (int round = 0; round < 10; ++round) {
    EXPECT_NE(state_.next({kNone, 0, 0}, now_).look_again, other.next({kNone, 0, 0}, now_).look_again);
  }
}

TEST_F(RegistrationStateTest, Checklist06ASilentKubeletIsTriedOftenAndARefusingOneRarely) {
  const int silent = look_for(minutes(10), {kFirst, 0, 0}, Answer::kNobody);
  EXPECT_GT(silent, 500);
  const int refusing = look_for(minutes(10), {kSecond, 0, 0}, Answer::kRefused);
  EXPECT_LT(refusing, 30);
  EXPECT_GE(refusing, 5);
}

TEST_F(RegistrationStateTest, Checklist07AStreamThatEndsIsALostRegistration) {
  look({kFirst, 0, 0});
  look({kFirst, 1, 1});
  EXPECT_TRUE(state_.registered());
  EXPECT_FALSE(look({kFirst, 1, 0}));
  EXPECT_FALSE(state_.registered());
  EXPECT_EQ(look_for(seconds(2), {kFirst, 1, 0}, Answer::kAccepted), 1);
}

TEST_F(RegistrationStateTest, Checklist07AStreamThatIsOverBeforeTheFirstLookIsLost) {
  look({kFirst, 0, 0});
  EXPECT_FALSE(look({kFirst, 1, 0}));
  EXPECT_FALSE(state_.registered());
}

TEST_F(RegistrationStateTest, Checklist07AKubeletThatNeverOpensAStreamIsAskedAgain) {
  look({kFirst, 0, 0});
  EXPECT_EQ(look_for(seconds(4), {kFirst, 0, 0}, Answer::kAccepted), 0);
  EXPECT_EQ(look_for(seconds(4), {kFirst, 0, 0}, Answer::kAccepted), 1);
}

TEST_F(RegistrationStateTest, Checklist10ALostEventCostsASecond) {
  look({kFirst, 0, 0});
  look({kFirst, 1, 1});
  EXPECT_LE(next_.look_again, seconds(1));
  look({kNone, 1, 0});
  EXPECT_LE(next_.look_again, seconds(1));
}

TEST_F(RegistrationStateTest, Checklist18DoesNotFightForAResource) {
  int registrations = 0;
  for (int round = 0; round < 100000 && now_ < base::SteadyTime(seconds(1000) + std::chrono::hours(1));
       ++round) {
    if (look({kFirst, 0, 0})) {
      ++registrations;
      look({kFirst, 1, 1});
      now_ += milliseconds(50);
      look({kFirst, 1, 0});  // another one has registered
    }
    now_ += std::max<base::Duration>(next_.look_again, milliseconds(1));
  }
  EXPECT_GT(state_.lost_in_a_row(), 4);
  EXPECT_LT(registrations, 30);
}

TEST_F(RegistrationStateTest, Checklist18AStreamThatLastedIsForgiven) {
  look({kFirst, 0, 0});
  for (int round = 0; round < 5; ++round) {
    look({kFirst, 1, 1});
    look({kFirst, 1, 0});
    while (!look({kFirst, 0, 0})) now_ += next_.look_again;
  }
  ASSERT_EQ(state_.lost_in_a_row(), 5);
  look_for(seconds(59), {kFirst, 1, 1}, Answer::kAccepted);
  EXPECT_EQ(state_.lost_in_a_row(), 5);
  look_for(seconds(3), {kFirst, 1, 1}, Answer::kAccepted);
  EXPECT_EQ(state_.lost_in_a_row(), 0);
}

TEST_F(RegistrationStateTest, ASocketThatIsGoneDoesNotEndARegistration) {
  look({kFirst, 0, 0});
  look({kFirst, 1, 1});
  EXPECT_FALSE(look({kNone, 1, 1}));
  EXPECT_TRUE(state_.registered());
  EXPECT_FALSE(look({kFirst, 1, 1}));
}

}  // namespace
}  // namespace gpupool::kubelet
