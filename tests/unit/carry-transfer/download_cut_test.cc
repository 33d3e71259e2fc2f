// SPDX-License-Identifier: Apache-2.0
// Bodies that end early, within one process.
#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kData = "0123456789abcdefghij";

class DownloadCut : public DownloadCase {};

TEST_F(DownloadCut, GoesOnWhereTheBodyWasCut) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    peer.write(number == 1 ? cut_answer("\"v1\"", kData, 7) : range_answer(request, "\"v1\"", kData));
  });
  const auto written = fetch(wanted());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->bytes, 20);
  EXPECT_EQ(written->sha256, digest::sha256_hex(kData));
  EXPECT_EQ(content("data.bin"), kData);
  EXPECT_EQ(files(), 1);
  ASSERT_EQ(requests().size(), 2);
  EXPECT_EQ(header_of(requests()[0], "Range"), "none");
  EXPECT_EQ(header_of(requests()[0], "Accept-Encoding"), "identity");
  EXPECT_EQ(header_of(requests()[1], "Range"), "bytes=7-");
  EXPECT_EQ(header_of(requests()[1], "If-Range"), "\"v1\"");
  EXPECT_EQ(budget_.left(), 1'000'000 - 20);
}

TEST_F(DownloadCut, LastModifiedServesWithoutAnETag) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    const std::string date = "Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n";
    peer.write(number == 1 ? answer_of("200 OK", date + "Content-Length: 20\r\n", kData.substr(0, 5))
                           : range_answer(request, "\"any\"", kData));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(header_of(requests()[1], "If-Range"), "Fri, 02 Jan 2026 03:04:05 GMT");
}

TEST_F(DownloadCut, BeginsAnewWithoutAValidator) {
  for (const char* etag : {"", "W/\"weak\""}) {
    serve([&](test::Peer& peer, const std::string&, int number) {
      peer.write(cut_answer(etag, kData, number % 2 == 1 ? 5 : 20));
    });
    const auto before = requests().size();
    ASSERT_TRUE(fetch(wanted()));
    EXPECT_EQ(content("data.bin"), kData);
    EXPECT_EQ(header_of(requests()[before + 1], "Range"), "none");
    EXPECT_EQ(files(), 1);
    server_.reset();
  }
}

TEST_F(DownloadCut, AServerMayIgnoreRange) {
  serve([](test::Peer& peer, const std::string&, int number) {
    peer.write(cut_answer("\"v1\"", kData, number == 1 ? 5 : 20));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), kData);
  EXPECT_EQ(header_of(requests()[1], "Range"), "bytes=5-");
}

TEST_F(DownloadCut, AnotherETagBeginsAnew) {
  serve([](test::Peer& peer, const std::string&, int number) {
    peer.write(number == 1 ? cut_answer("\"v1\"", kData, 5) : cut_answer("\"v2\"", "other bytes", 11));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), "other bytes");
  EXPECT_EQ(files(), 1);  // nothing of v1 is left
}

TEST_F(DownloadCut, AnotherETagThanTheExpectedIsAMismatch) {
  serve([](test::Peer& peer, const std::string&, int number) {
    peer.write(number == 1 ? cut_answer("\"v1\"", kData, 5) : cut_answer("\"v2\"", kData, 20));
  });
  Download download = wanted();
  download.etag = "v1";
  const auto written = fetch(download);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kMismatch);
  EXPECT_THAT(written.error().message, HasSubstr("changed while it was read"));
  EXPECT_EQ(header_of(requests()[0], "If-Match"), "\"v1\"");
  EXPECT_EQ(files(), 0);
  EXPECT_EQ(budget_.left(), 1'000'000);
}

TEST_F(DownloadCut, PreconditionFailedIsAMismatch) {
  serve([](test::Peer& peer, const std::string&, int) {
    peer.write(answer_of("412 Precondition Failed", "Content-Length: 0\r\n", ""));
  });
  Download download = wanted();
  download.etag = "\"v1\"";
  const auto written = fetch(download);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kMismatch);
  EXPECT_EQ(requests().size(), 1);
}

TEST_F(DownloadCut, AWrongContentRangeBeginsAnewAndThenFails) {
  serve([](test::Peer& peer, const std::string& request, int) {
    if (header_of(request, "Range") == "none") {
      peer.write(cut_answer("\"v1\"", kData, 5));
    } else {
      peer.write(answer_of("206 Partial Content", "Content-Length: 16\r\nContent-Range: bytes 4-19/20\r\n",
                           kData.substr(4)));
    }
  });
  const auto written = fetch(wanted());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kMismatch);
  EXPECT_EQ(requests().size(), 8);
  EXPECT_EQ(files(), 0);
}

TEST_F(DownloadCut, APartFromFurtherOnIsNotJoined) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    if (number == 1) return void(peer.write(cut_answer("\"v1\"", kData, 5)));
    if (number > 2) return void(peer.write(range_answer(request, "\"v1\"", kData)));
    peer.write(answer_of("206 Partial Content", "Content-Length: 12\r\nContent-Range: bytes 8-19/20\r\n",
                         kData.substr(8)));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), kData);
  EXPECT_EQ(header_of(requests()[2], "Range"), "none");
}

TEST_F(DownloadCut, APartOfAnotherVersionIsNotJoined) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    peer.write(number == 1 ? cut_answer("\"v1\"", kData, 5)
                           : range_answer(request, "\"v2\"", "ABCDEFGHIJKLMNOPQRST"));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), "ABCDEFGHIJKLMNOPQRST");
}

TEST_F(DownloadCut, APartThatWasNotAskedForIsRefused) {
  serve([](test::Peer& peer, const std::string&, int) {
    peer.write(answer_of("206 Partial Content", "Content-Length: 10\r\nContent-Range: bytes 0-9/20\r\n",
                         kData.substr(0, 10)));
  });
  const auto written = fetch(wanted());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kMismatch);
}

TEST_F(DownloadCut, AShorterRangeThanAskedForIsTaken) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    if (number == 1) return void(peer.write(cut_answer("\"v1\"", kData, 5)));
    const auto first = std::stoul(header_of(request, "Range").substr(6));
    peer.write(answer_of("206 Partial Content",
                         "Content-Length: 5\r\nContent-Range: bytes " + std::to_string(first) + "-" +
                             std::to_string(first + 4) + "/20\r\n",
                         kData.substr(first, 5)));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), kData);
  EXPECT_EQ(requests().size(), 4);
}

TEST_F(DownloadCut, ASilentServerIsGivenUpAndAskedAgain) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    peer.write(number == 1 ? cut_answer("\"v1\"", kData, 6) : range_answer(request, "\"v1\"", kData));
    if (number == 1) peer.wait_until_client_closes();
  });
  Download download = wanted();
  download.idle = 50ms;
  ASSERT_TRUE(fetch(download));
  EXPECT_EQ(header_of(requests()[1], "Range"), "bytes=6-");
}

TEST_F(DownloadCut, NewBytesResetTheWaits) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    if (number <= 3 || (number >= 5 && number <= 6)) {
      peer.write(answer_of("503 Service Unavailable", "Content-Length: 0\r\n", ""));
    } else {
      peer.write(number == 4 ? cut_answer("\"v1\"", kData, 5) : range_answer(request, "\"v1\"", kData));
    }
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_THAT(clock_.waits(), ElementsAre(100ms, 200ms, 400ms, 100ms, 200ms, 400ms));
}

TEST_F(DownloadCut, TheSameBytesAgainAreNoProgress) {
  serve([](test::Peer& peer, const std::string&, int) { peer.write(cut_answer("", kData, 5)); });
  Download download = wanted();
  download.deadline = clock_.now() + 3s;
  const auto written = fetch(download);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kUnavailable);
  EXPECT_THAT(clock_.waits(), ElementsAre(100ms, 200ms, 400ms, 800ms));
  EXPECT_EQ(files(), 0);  // without a validator nobody can go on
}

TEST_F(DownloadCut, MoreBytesThanTheTotalBeginAnew) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    if (number == 1) return void(peer.write(cut_answer("\"v1\"", kData, 5)));
    if (number > 2) return void(peer.write(range_answer(request, "\"v1\"", kData)));
    peer.write(
        answer_of("206 Partial Content", "Content-Range: bytes 5-19/20\r\n", std::string(kData) + "more"));
  });
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), kData);
  EXPECT_EQ(header_of(requests()[2], "Range"), "none");
}

TEST_F(DownloadCut, ASuddenStopEndsTheWait) {
  serve([&](test::Peer& peer, const std::string&, int) {
    peer.write(cut_answer("\"v1\"", kData, 5));
    stop_.request_stop();
    peer.wait_until_client_closes();
  });
  const auto written = fetch(wanted(), stop_.get_token());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kStopped);
}

}  // namespace
}  // namespace gpupool::carry
