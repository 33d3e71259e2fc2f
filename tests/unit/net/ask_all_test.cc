// SPDX-License-Identifier: Apache-2.0
#include "net/ask_all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scripted_server.h"

namespace gpupool::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

std::uint16_t port_of(const test::ScriptedServer& server) {
  return static_cast<std::uint16_t>(server.port());
}

std::vector<base::Result<std::string>> ask(const std::vector<Question>& questions,
                                           base::Duration timeout = seconds(30)) {
  return ask_all(questions, timeout, 1000, {});
}

TEST(AskAll, AnswersComeInOrder) {
  test::ScriptedServer server([](test::Peer& peer) {
    const auto text = peer.read_exactly(4);
    peer.write("to " + text);
  });
  std::vector<Question> questions;
  for (int i = 0; i < 300; ++i) questions.push_back({"127.0.0.1", port_of(server), std::to_string(1000 + i)});
  const auto answers = ask(questions);
  ASSERT_EQ(answers.size(), 300U);
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(answers[static_cast<std::size_t>(i)].value(), "to " + std::to_string(1000 + i));
  EXPECT_TRUE(ask({}).empty());
}

TEST(AskAll, OneThatDoesNotAnswerDelaysNoOther) {
  test::ScriptedServer silent([](test::Peer& peer) { peer.wait_until_client_closes(); });
  test::ScriptedServer server([](test::Peer& peer) { peer.write(peer.read_exactly(2)); });
  const auto answers =
      ask({{"127.0.0.1", port_of(silent), "hi"}, {"127.0.0.1", port_of(server), "hi"}}, milliseconds(300));
  EXPECT_EQ(answers[0].error().code, base::ErrorCode::kTimeout);
  EXPECT_THAT(answers[0].error().message, HasSubstr("127.0.0.1:" + std::to_string(silent.port())));
  EXPECT_EQ(answers[1].value(), "hi");
}

TEST(AskAll, WhatCannotBeAskedIsAnError) {
  int closed = 0;
  {
    const test::ScriptedServer server([](test::Peer&) {});
    closed = server.port();
  }
  const auto answers =
      ask({{"127.0.0.1", static_cast<std::uint16_t>(closed), "hi"}, {"localhost", 1, "hi"}, {"", 1, "hi"}});
  EXPECT_EQ(answers[0].error().code, base::ErrorCode::kTransport);
  EXPECT_EQ(answers[1].error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_EQ(answers[2].error().code, base::ErrorCode::kInvalidArgument);
}

TEST(AskAll, TooLongAnAnswerIsAnError) {
  test::ScriptedServer server([](test::Peer& peer) {
    while (peer.write(std::string(4096, 'x'))) {
    }
  });
  EXPECT_EQ(ask({{"127.0.0.1", port_of(server), "hi"}})[0].error().code, base::ErrorCode::kParse);
}

TEST(AskAll, StopsWhenAsked) {
  test::ScriptedServer silent([](test::Peer& peer) { peer.wait_until_client_closes(); });
  std::stop_source stop;
  stop.request_stop();
  const auto answers = ask_all({{"127.0.0.1", port_of(silent), "hi"}}, seconds(30), 1000, stop.get_token());
  EXPECT_EQ(answers[0].error().code, base::ErrorCode::kTimeout);
}

}  // namespace
}  // namespace gpupool::net
