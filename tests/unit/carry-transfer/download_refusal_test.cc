// SPDX-License-Identifier: Apache-2.0
// Answers that are no file.
#include "tests/unit/carry-transfer/download_case.h"
#include "transfer/refusal.h"

namespace gpupool::carry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class DownloadRefusal : public DownloadCase {
 protected:
  void always(const std::string& answer) {
    serve([answer](test::Peer& peer, const std::string&, int) { peer.write(answer); });
  }
  Failure failure(const Download& download) {
    const auto written = fetch(download);
    return written ? Failure{FailureKind::kLocal, "there is no failure"} : written.error();
  }
};

TEST_F(DownloadRefusal, StatusesThatStayAreNotTriedAgain) {
  const std::vector<std::pair<std::string, FailureKind>> cases{
      {"401 Unauthorized", FailureKind::kDenied},     {"403 Forbidden", FailureKind::kDenied},
      {"404 Not Found", FailureKind::kNotFound},      {"410 Gone", FailureKind::kNotFound},
      {"400 Bad Request", FailureKind::kInvalid},     {"418 Teapot", FailureKind::kInvalid},
      {"501 Not Implemented", FailureKind::kInvalid}, {"304 Not Modified", FailureKind::kInvalid},
      {"204 No Content", FailureKind::kInvalid}};
  for (const auto& [status, kind] : cases) {
    always(answer_of(status, "", ""));
    const auto before = requests().size();
    const Failure found = failure(wanted());
    EXPECT_EQ(found.kind, kind) << status;
    EXPECT_THAT(found.message,
                HasSubstr(server_->url() + "/data.bin: the server answers " + status.substr(0, 3)));
    EXPECT_THAT(found.message, Not(HasSubstr("hidden")));
    EXPECT_EQ(requests().size(), before + 1) << status;
    server_.reset();
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(DownloadRefusal, TheServersWordsAreCutAndClean) {
  always(
      answer_of("403 Forbidden", "Content-Type: text/plain\r\n", "no\n\x1b[31mway " + std::string(400, 'x')));
  const Failure found = failure(wanted());
  EXPECT_THAT(found.message, HasSubstr("403: no [31mway xxx"));
  EXPECT_EQ(found.message.find_first_of("\n\x1b"), std::string::npos);
  EXPECT_EQ(std::count(found.message.begin(), found.message.end(), 'x'), 189);
}

TEST_F(DownloadRefusal, OthersAreTriedUntilTheDeadline) {
  for (const char* status :
       {"408 Request Timeout", "425 Too Early", "429 Too Many Requests", "500 Oops", "502 Bad"}) {
    always(answer_of(status, "Content-Length: 0\r\n", ""));
    const auto before = requests().size();
    Download download = wanted();
    download.deadline = clock_.now() + 2s;
    const Failure found = failure(download);
    EXPECT_EQ(found.kind, FailureKind::kUnavailable);
    EXPECT_THAT(found.message, HasSubstr(std::string("answers ") + std::string(status).substr(0, 3)));
    EXPECT_THAT(found.message, HasSubstr("(tried 5 times, and the time is over)"));
    EXPECT_EQ(requests().size(), before + 5);
    server_.reset();
  }
}

TEST_F(DownloadRefusal, TransportErrorsAreTriedAgain) {
  serve([](test::Peer& peer, const std::string&, int number) {
    if (number == 3) peer.write(test::ok("data"));
    if (number == 2) peer.write("HTTP/1.1 200 O");
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(requests().size(), 3);
  EXPECT_EQ(content("data.bin"), "data");
}

TEST_F(DownloadRefusal, AnUnknownHostIsTriedAgain) {
  always("");
  Download download = wanted();
  download.url = "http://no-such-host.invalid/x";
  download.deadline = clock_.now() + 500ms;
  const Failure found = failure(download);
  EXPECT_EQ(found.kind, FailureKind::kUnavailable) << found.message;
  EXPECT_THAT(found.message, HasSubstr("http://no-such-host.invalid/x: "));
  EXPECT_FALSE(clock_.waits().empty());
}

TEST_F(DownloadRefusal, RetryAfterIsHonoured) {
  serve([](test::Peer& peer, const std::string&, int number) {
    const std::array<std::string, 4> asked{"7", "3600", "Fri, 02 Jan 2026 03:04:15 GMT", "nonsense"};
    if (number > 4) return void(peer.write(test::ok("data")));
    peer.write(answer_of(
        "429 Slow Down",
        "Content-Length: 0\r\nRetry-After: " + asked.at(static_cast<std::size_t>(number - 1)) + "\r\n", ""));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_THAT(clock_.waits(), ElementsAre(7s, 60s, 10s, 800ms));
}

TEST_F(DownloadRefusal, ALongerFileThanTheBudgetIsNotRead) {
  serve([](test::Peer& peer, const std::string&, int) {
    peer.write(answer_of("200 OK", "Content-Length: 1000001\r\nETag: \"v1\"\r\n", "some"));
    peer.wait_until_client_closes();
  });
  const Failure found = failure(wanted());
  EXPECT_EQ(found.kind, FailureKind::kTooLarge);
  EXPECT_THAT(found.message, HasSubstr("1000001 bytes, and sizeLimit leaves 1000000"));
  EXPECT_EQ(files(), 0);
}

TEST_F(DownloadRefusal, ABodyWithoutLengthIsCountedAsItComes) {
  serve([](test::Peer& peer, const std::string&, int) {
    peer.write("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\r\n" + std::string(1'000'001, 'x'));
  });
  EXPECT_EQ(failure(wanted()).kind, FailureKind::kTooLarge);
  EXPECT_EQ(files(), 0);
  EXPECT_EQ(budget_.left(), 1'000'000);
}

TEST_F(DownloadRefusal, CompressedBytesAreNotStored) {
  always(answer_of("200 OK", "Content-Encoding: gzip\r\nContent-Length: 4\r\n", "data"));
  const Failure found = failure(wanted());
  EXPECT_EQ(found.kind, FailureKind::kInvalid);
  EXPECT_THAT(found.message, HasSubstr("Content-Encoding gzip"));
  EXPECT_EQ(content("data.bin"), "none");
}

TEST_F(DownloadRefusal, AnotherSizeThanTheListings) {
  always(test::ok("12345"));
  Download download = wanted();
  download.size = 6;
  EXPECT_EQ(failure(download).kind, FailureKind::kMismatch);
}

TEST_F(DownloadRefusal, UrlsThatAreRefused) {
  always("");
  for (const char* url :
       {"ftp://h/x", "file:///etc/passwd", "http://user:hunter2@h/", "http://user@h/", "http://:hunter2@h/",
        "https://", "h/x", "", "http://h/a b", "http://us:hunter2/@h"}) {
    Download download = wanted();
    download.url = url;
    const Failure found = failure(download);
    EXPECT_EQ(found.kind, FailureKind::kInvalid) << url;
    EXPECT_THAT(found.message, Not(HasSubstr("hunter2")));
  }
  EXPECT_TRUE(requests().empty());
}

TEST_F(DownloadRefusal, APathOutOfTheFolder) {
  always(test::ok("data"));
  Download download = wanted();
  download.path = "../data.bin";
  EXPECT_EQ(failure(download).kind, FailureKind::kInvalid);
}

TEST(ForMessage, NeverEndsWithinACharacter) {
  EXPECT_EQ(for_message(std::string(199, 'x') + "ä"), std::string(199, 'x'));
  EXPECT_EQ(for_message(std::string(198, 'x') + "ä"), std::string(198, 'x') + "ä");
}

}  // namespace
}  // namespace gpupool::carry
