// SPDX-License-Identifier: Apache-2.0
#include "runtime/watch/watcher.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/manual_clock.h"

namespace gpupool::runtime {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Listed {
  std::string version;
};
struct ListFails {
  ErrorCode code;
};
struct Event {
  std::string type;
  std::string version;
};
struct ErrorEvent {
  ErrorCode code;
};
struct Ends {
  std::optional<ErrorCode> code = std::nullopt;
};
struct Waited {};
struct Probed {
  std::string version;
};
struct ProbeFails {
  ErrorCode code;
};
struct Passes {
  base::Duration time;
};
using Input = std::variant<Listed, ListFails, Event, ErrorEvent, Ends, Waited, Probed, ProbeFails, Passes>;

// An input, and the expected action. Without one, next() is not called before the next input.
struct ScriptedStep {
  Input input;
  std::string action = {};
};

struct Row {
  std::string name;
  std::vector<ScriptedStep> steps;
};

std::string text(const Watcher::Action& action) {
  if (const auto* list = std::get_if<Watcher::DoList>(&action)) {
    return "list '" + list->resource_version + "'";
  }
  if (const auto* watch = std::get_if<Watcher::DoWatch>(&action)) return "watch " + watch->resource_version;
  return std::holds_alternative<Watcher::DoProbe>(action) ? "probe" : "wait";
}

struct Feed {
  Watcher& watcher;
  test::ManualClock& clock;

  void operator()(const Listed& list) { watcher.on_listed(list.version); }
  void operator()(const ListFails& error) { watcher.on_list_error({error.code, "no"}); }
  void operator()(const Event& event) { watcher.on_event(event.type, event.version); }
  void operator()(const ErrorEvent& event) { watcher.on_error_event({event.code, "no"}); }
  void operator()(const Ends& end) {
    watcher.on_watch_end(end.code ? std::optional(base::Error{*end.code, "no"}) : std::nullopt);
  }
  void operator()(const Waited&) { watcher.on_waited(); }
  void operator()(const Probed& probe) { watcher.on_probe(probe.version); }
  void operator()(const ProbeFails& error) { watcher.on_probe_error({error.code, "no"}); }
  void operator()(const Passes& passes) { clock.advance(passes.time); }
};

const ScriptedStep kListed{Listed{"10"}, "watch 10"};
const std::string kFirst = "list '0'";

const std::vector<Row> kRows{
    {"AfterAListItWatchesFromTheListsVersion", {kListed}},
    {"ACleanEndIsFollowedByAWatchFromTheLastVersion",
     {kListed, {Event{"ADDED", "12"}}, {Event{"DELETED", "13"}}, {Ends{}, "watch 13"}}},
    {"ABookmarkAdvancesTheVersion", {kListed, {Event{"BOOKMARK", "99"}}, {Ends{}, "watch 99"}}},
    {"AnEventWithoutAVersionDoesNot", {kListed, {Event{"ADDED", ""}}, {Ends{}, "watch 10"}}},
    {"AQuietWatchThatLastedIsNoFailure", {kListed, {Passes{seconds(1)}}, {Ends{}, "watch 10"}}},
    {"AVeryShortWatchIsListedAfterAPause",
     {kListed, {Passes{milliseconds(999)}}, {Ends{}, "wait"}, {Waited{}, "list '10'"}}},
    {"AShortWatchWithABookmarkIsNot", {kListed, {Event{"BOOKMARK", "11"}}, {Ends{}, "watch 11"}}},
    {"ALostConnectionIsResumedAfterAPauseAndAQuestion",
     {kListed,
      {Event{"MODIFIED", "12"}},
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "probe"},
      {Probed{"12"}, "watch 12"}}},
    {"AnIdleConnectionIsResumed",
     {kListed, {Ends{ErrorCode::kTimeout}, "wait"}, {Waited{}, "probe"}, {Probed{"99"}, "watch 10"}}},
    {"AServerThatWentBackIsListedFromItsStorage",
     {kListed,
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "probe"},
      {Probed{"9"}, "list ''"},
      {Listed{"9"}, "watch 9"}}},
    {"AServerThatStaysAwayIsListed",
     {kListed,
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "probe"},
      {ProbeFails{ErrorCode::kTransport}, "wait"},
      {Waited{}, "list '10'"}}},
    {"AConnectionThatIsLostTwiceIsListed",
     {kListed,
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "probe"},
      {Probed{"10"}, "watch 10"},
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "list '10'"}}},
    {"AConnectionThatIsLostNowAndThenIsResumed",
     {kListed,
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "probe"},
      {Probed{"10"}, "watch 10"},
      {Event{"BOOKMARK", "11"}},
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "probe"},
      {Probed{"11"}, "watch 11"}}},
    {"TooManyRequestsIsResumed",
     {kListed, {Ends{ErrorCode::kTooManyRequests}, "wait"}, {Waited{}, "watch 10"}}},
    {"AnInternalErrorIsListed", {kListed, {Ends{ErrorCode::kServer}, "wait"}, {Waited{}, "list '10'"}}},
    {"AnUnreadableStreamIsListed", {kListed, {Ends{ErrorCode::kParse}, "wait"}, {Waited{}, "list '10'"}}},
    {"AForbiddenWatchIsListed", {kListed, {Ends{ErrorCode::kForbidden}, "wait"}, {Waited{}, "list '10'"}}},
    {"GoneAtTheWatchsStartIsListedAtTheLastVersion",
     {kListed, {Ends{ErrorCode::kExpired}, "wait"}, {Waited{}, "list '10'"}}},
    {"GoneInsideTheStreamIsListedAtTheLastVersion",
     {kListed,
      {Event{"ADDED", "14"}},
      {ErrorEvent{ErrorCode::kExpired}},
      {Ends{}, "wait"},
      {Waited{}, "list '14'"}}},
    {"AnErrorEventCountsMoreThanHowTheStreamEnded",
     {kListed,
      {ErrorEvent{ErrorCode::kExpired}},
      {Ends{ErrorCode::kTransport}, "wait"},
      {Waited{}, "list '10'"}}},
    {"AnErrorEventIsForgottenByTheNextWatch",
     {kListed,
      {ErrorEvent{ErrorCode::kTooManyRequests}},
      {Ends{}, "wait"},
      {Waited{}, "watch 10"},
      {Passes{seconds(2)}},
      {Ends{}, "watch 10"}}},
    {"GoneOnAListIsListedAtOnceWithoutAVersion",
     {kListed,
      {Ends{ErrorCode::kExpired}, "wait"},
      {Waited{}, "list '10'"},
      {ListFails{ErrorCode::kExpired}, "list ''"},
      {Listed{"20"}, "watch 20"}}},
    {"TooLargeOnAListIsListedAtOnceWithoutAVersion",
     {kListed,
      {Ends{ErrorCode::kServer}, "wait"},
      {Waited{}, "list '10'"},
      {ListFails{ErrorCode::kTooLargeVersion}, "list ''"},
      {Listed{"8"}, "watch 8"}}},
    {"TooLargeOnAWatchIsListedWithoutAVersion",
     {kListed, {Ends{ErrorCode::kTooLargeVersion}, "wait"}, {Waited{}, "list ''"}}},
    {"TheQuorumListIsForOnce",
     {{ListFails{ErrorCode::kTooLargeVersion}, "list ''"},
      {Listed{"20"}, "watch 20"},
      {Ends{ErrorCode::kServer}, "wait"},
      {Waited{}, "list '20'"}}},
    {"AQuorumListThatIsGoneTooHasToWait",
     {{ListFails{ErrorCode::kExpired}, "list ''"},
      {ListFails{ErrorCode::kExpired}, "wait"},
      {Waited{}, "list ''"}}},
    {"AFailedListIsTriedAgainAfterAPause", {{ListFails{ErrorCode::kTransport}, "wait"}, {Waited{}, kFirst}}},
    {"UnauthorizedIsTriedAgain", {{ListFails{ErrorCode::kUnauthorized}, "wait"}, {Waited{}, kFirst}}},
    {"ForbiddenIsTriedAgain", {{ListFails{ErrorCode::kForbidden}, "wait"}, {Waited{}, kFirst}}},
    {"AListWithoutAVersionIsNotWatched", {{Listed{""}, "wait"}, {Waited{}, kFirst}}},
    {"AListAtVersionZeroIsNotWatched", {{Listed{"0"}, "wait"}, {Waited{}, kFirst}}},
};

class WatcherTable : public ::testing::TestWithParam<Row> {};

TEST_P(WatcherTable, DoesAsTheTableSays) {
  test::ManualClock clock;
  Watcher watcher(clock, 1);
  ASSERT_EQ(text(watcher.next()), kFirst);
  std::size_t number = 0;
  for (const auto& step : GetParam().steps) {
    std::visit(Feed{watcher, clock}, step.input);
    ++number;
    if (!step.action.empty()) {
      ASSERT_EQ(text(watcher.next()), step.action) << "step " << number;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, WatcherTable, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST(Watcher, TellsThatTheServerWentBack) {
  test::ManualClock clock;
  Watcher watcher(clock, 1);
  watcher.next();
  watcher.on_listed("100");
  EXPECT_FALSE(watcher.went_back());
  watcher.next();
  watcher.on_watch_end(base::Error{ErrorCode::kServer, "no"});
  watcher.on_waited();
  watcher.next();
  watcher.on_listed("99");
  EXPECT_TRUE(watcher.went_back());
  watcher.next();
  watcher.on_watch_end(base::Error{ErrorCode::kServer, "no"});
  watcher.on_waited();
  watcher.next();
  watcher.on_listed("99");
  EXPECT_FALSE(watcher.went_back());
}

TEST(Watcher, WatchesEndAtDifferentTimesBetweenFiveAndTenMinutes) {
  test::ManualClock clock;
  std::set<seconds> timeouts;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Watcher watcher(clock, seed);
    watcher.next();
    watcher.on_listed("5");
    timeouts.insert(std::get<Watcher::DoWatch>(watcher.next()).timeout);
  }
  EXPECT_GE(*timeouts.begin(), seconds(300));
  EXPECT_LE(*timeouts.rbegin(), seconds(600));
  EXPECT_GT(timeouts.size(), 50U);
}

base::Duration failed_list(Watcher& watcher, const base::Error& error = {ErrorCode::kServer, "no"}) {
  watcher.next();
  watcher.on_list_error(error);
  const auto delay = std::get<Watcher::DoWait>(watcher.next()).delay;
  watcher.on_waited();
  return delay;
}

TEST(Watcher, PausesGrowToThirtySecondsWithJitterAndAreForgottenAfterTwoQuietMinutes) {
  test::ManualClock clock;
  Watcher watcher(clock, 7);
  base::Duration expected = milliseconds(800);
  for (int i = 0; i < 10; ++i) {
    const auto delay = failed_list(watcher);
    EXPECT_GE(delay, expected);
    EXPECT_LT(delay, 2 * expected);
    expected = std::min<base::Duration>(2 * expected, seconds(30));
  }
  clock.advance(minutes(2) + seconds(1));
  EXPECT_LT(failed_list(watcher), milliseconds(1600));
}

TEST(Watcher, LooksEveryFewSecondsForAServerThatIsAway) {
  test::ManualClock clock;
  Watcher watcher(clock, 7);
  for (int i = 0; i < 10; ++i) EXPECT_LT(failed_list(watcher, {ErrorCode::kTransport, "no"}), seconds(6));
  // The first error of a server that is back has its own backoff.
  EXPECT_LT(failed_list(watcher, {ErrorCode::kServer, "no"}), milliseconds(1600));
}

TEST(Watcher, WaitsAsLongAsTheServerAsks) {
  test::ManualClock clock;
  Watcher watcher(clock, 7);
  base::Error busy{ErrorCode::kTooManyRequests, "no"};
  busy.retry_after = seconds(50);
  EXPECT_EQ(failed_list(watcher, busy), seconds(50));
}

TEST(Watcher, CountsRestartsAndLists) {
  test::ManualClock clock;
  Watcher watcher(clock, 7);
  watcher.next();
  watcher.on_listed("5");
  watcher.next();
  EXPECT_EQ(watcher.lists(), 1U);
  EXPECT_EQ(watcher.restarts(), 0U);
  watcher.on_event("ADDED", "6");
  watcher.on_watch_end(std::nullopt);
  watcher.next();
  EXPECT_EQ(watcher.restarts(), 1U);
}

}  // namespace
}  // namespace gpupool::runtime
