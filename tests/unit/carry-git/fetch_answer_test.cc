// SPDX-License-Identifier: Apache-2.0
#include "git/fetch_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git/git_advertisement.h"
#include "git/git_request_body.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

const std::string kUrl = "https://example.com/r.git";

struct Heard {
  Outcome<void> outcome;
  std::string pack;
  bool whole = false;
};

Heard hear(const std::string& stream, std::size_t cut) {
  Heard heard;
  FetchAnswer answer("abc", kUrl, [&](std::string_view bytes) -> Outcome<void> {
    heard.pack += bytes;
    return {};
  });
  heard.outcome = answer.feed(std::string_view(stream).substr(0, cut));
  if (heard.outcome) heard.outcome = answer.feed(std::string_view(stream).substr(cut));
  heard.whole = answer.whole();
  return heard;
}

Failure failure_of(const std::string& stream) {
  const auto heard = hear(stream, 0);
  EXPECT_FALSE(heard.outcome);
  EXPECT_FALSE(heard.whole);
  return heard.outcome ? Failure{FailureKind::kLocal, {}} : heard.outcome.error();
}

std::string whole_answer() {
  return pkt_line("shallow-info\n") + pkt_line("shallow abc\n") + "0001" + pkt_line("packfile\n") +
         pkt_line("\x01PACK") + pkt_line("\x02progress") + pkt_line("\x01") + pkt_line("\x01more") + "0000";
}

TEST(FetchAnswer, EveryCutGivesThePack) {
  const auto stream = whole_answer();
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    const auto heard = hear(stream, cut);
    ASSERT_TRUE(heard.outcome) << cut;
    EXPECT_EQ(heard.pack, "PACKmore");
    EXPECT_TRUE(heard.whole);
  }
}

TEST(FetchAnswer, ABeginningIsNotWhole) {
  const auto stream = whole_answer();
  for (std::size_t size = 0; size < stream.size(); ++size) {
    const auto heard = hear(stream.substr(0, size), size / 2);
    EXPECT_TRUE(heard.outcome) << size;
    EXPECT_FALSE(heard.whole) << size;
  }
}

TEST(FetchAnswer, ErrorsAreTold) {
  const auto lost = failure_of(pkt_line("ERR upload-pack: not our ref abc\n"));
  EXPECT_EQ(lost.kind, FailureKind::kNotFound);
  EXPECT_THAT(lost.message, HasSubstr("has no commit abc; it may have been force-pushed away"));
  const auto other = failure_of(pkt_line("ERR no\x1b\n!" + std::string(300, 'x')));
  EXPECT_EQ(other.kind, FailureKind::kInvalid);
  EXPECT_THAT(other.message, testing::EndsWith("refuses commit abc: no!" + std::string(197, 'x')));
  const auto broken = failure_of(pkt_line("packfile\n") + pkt_line("\x01PA") + pkt_line("\x03no memory\n"));
  EXPECT_EQ(broken.kind, FailureKind::kUnavailable);
  EXPECT_THAT(broken.message, testing::EndsWith("broke off: no memory"));
}

TEST(FetchAnswer, OtherAnswersAreNoGit) {
  for (const auto& stream :
       {std::string("<html>"), pkt_line("NAK\n"), pkt_line("packfile\n") + pkt_line("\x05x"),
        std::string("0000"), pkt_line("packfile\n") + pkt_line("")}) {
    const auto failure = failure_of(stream);
    EXPECT_EQ(failure.kind, FailureKind::kInvalid) << stream;
    EXPECT_THAT(failure.message, HasSubstr("does not speak git protocol 2 at this URL, " + kUrl));
  }
}

TEST(FetchAnswer, APackThatIsNotWantedEndsAll) {
  FetchAnswer answer("abc", kUrl, [](std::string_view /*bytes*/) -> Outcome<void> {
    return failed(FailureKind::kTooLarge, "enough");
  });
  const auto fed = answer.feed(whole_answer());
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().kind, FailureKind::kTooLarge);
}

TEST(FetchBody, AsksForOneCommitWithoutItsHistory) {
  EXPECT_EQ(fetch_body("abc"),
            "0012command=fetch\n0018agent=gpupool-carry\n0001"
            "0010no-progress\n000eofs-delta\n000ddeepen 1\n000dwant abc\n0009done\n0000");
}

std::string advertisement(const std::string& fetch, const std::string& format = {}) {
  auto text =
      pkt_line("version 2\n") + pkt_line("agent=git/2\n") + pkt_line("ls-refs\n") + pkt_line(fetch + "\n");
  if (!format.empty()) text += pkt_line("object-format=" + format + "\n");
  return text + "0000";
}

TEST(Advertisement, WithAndWithoutTheNameOfTheServiceIsGood) {
  EXPECT_TRUE(check_advertisement(advertisement("fetch=wait-for-done shallow"), kUrl));
  EXPECT_TRUE(check_advertisement(
      pkt_line("# service=git-upload-pack\n") + "0000" + advertisement("fetch=shallow", "sha1"), kUrl));
}

TEST(Advertisement, OthersAreRefused) {
  const auto why = [](const std::string& body) {
    const auto checked = check_advertisement(body, kUrl);
    EXPECT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, FailureKind::kInvalid);
    return checked.error().message;
  };
  const auto none = HasSubstr("does not speak git protocol 2 at this URL");
  EXPECT_THAT(why(""), none);
  EXPECT_THAT(why("<html>"), none);
  EXPECT_THAT(
      why(pkt_line("# service=git-upload-pack\n") + "0000" + pkt_line("abc HEAD\0 shallow\n") + "0000"),
      none);
  EXPECT_THAT(why(pkt_line("version 2\n") + pkt_line("ls-refs\n") + "0000"), none);
  EXPECT_THAT(why(advertisement("fetch=shallow", "sha256")), HasSubstr("another hash than SHA-1"));
  EXPECT_THAT(why(advertisement("fetch=shallower")),
              HasSubstr("does not give one commit without its history"));
  EXPECT_THAT(why(advertisement("fetch")), HasSubstr("does not give one commit without its history"));
}

}  // namespace
}  // namespace gpupool::carry
