// SPDX-License-Identifier: Apache-2.0
// What an earlier process has left.
#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry {
namespace {

constexpr std::string_view kAll = "0123456789abcdefghij";

class DownloadRestart : public DownloadCase {
 protected:
  std::string version_of(const std::string& etag) const { return etag + " " + wanted().url; }
  void serve_ranges() {
    serve([](test::Peer& peer, const std::string& request, int) {
      peer.write(range_answer(request, "\"v1\"", kAll));
    });
  }
  Download with_sha256(std::string_view bytes) const {
    Download download = wanted();
    download.sha256 = digest::sha256_hex(bytes);
    return download;
  }
};

TEST_F(DownloadRestart, GoesOnWithTheSameETag) {
  serve_ranges();
  leave_part(version_of("\"v1\""), kAll.substr(0, 8));
  const auto written = fetch(wanted());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->sha256, digest::sha256_hex(kAll));
  ASSERT_EQ(requests().size(), 2);
  EXPECT_EQ(header_of(requests()[1], "Range"), "bytes=8-");
  EXPECT_EQ(header_of(requests()[1], "If-Range"), "\"v1\"");
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(clock_.waits().empty());
}

TEST_F(DownloadRestart, AWholePartIsNotAskedForAgain) {
  serve_ranges();
  leave_part(version_of("\"v1\""), kAll);
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(requests().size(), 1);
  EXPECT_EQ(content("data.bin"), kAll);
}

TEST_F(DownloadRestart, APartThatIsTooLongIsDropped) {
  serve_ranges();
  leave_part(version_of("\"v1\""), std::string(kAll) + "more");
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), kAll);
}

TEST_F(DownloadRestart, TheSha256AloneServesToo) {
  serve_ranges();
  const Download download = with_sha256(kAll);
  leave_part(download.sha256, kAll.substr(0, 8));
  ASSERT_TRUE(fetch(download));
  ASSERT_EQ(requests().size(), 1);
  EXPECT_EQ(header_of(requests()[0], "Range"), "bytes=8-");
  EXPECT_EQ(header_of(requests()[0], "If-Range"), "none");
}

TEST_F(DownloadRestart, BytesOfAnotherObjectAreFetchedAnewOnce) {
  serve_ranges();
  const Download download = with_sha256(kAll);
  leave_part(download.sha256, "XXXX");
  ASSERT_TRUE(fetch(download));
  EXPECT_EQ(content("data.bin"), kAll);
  EXPECT_EQ(requests().size(), 2);
}

TEST_F(DownloadRestart, AnotherSha256IsAMismatch) {
  serve_ranges();
  const auto written = fetch(with_sha256("something else"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kMismatch);
  EXPECT_EQ(requests().size(), 1);
  EXPECT_EQ(files(), 0);
}

TEST_F(DownloadRestart, AllBytesOfAnUnknownTotalAreThere) {
  serve([](test::Peer& peer, const std::string& request, int) {
    const bool ranged = header_of(request, "Range") == "bytes=20-";
    peer.write(ranged ? answer_of("416 Range Not Satisfiable",
                                  "Content-Range: bytes */20\r\nContent-Length: 0\r\n", "")
                      : range_answer(request, "\"v1\"", kAll));
  });
  const Download download = with_sha256(kAll);
  leave_part(download.sha256, kAll);
  ASSERT_TRUE(fetch(download));
  EXPECT_EQ(requests().size(), 1);

  leave_part(download.sha256, "01234567890123456789");  // as long, and wrong
  ASSERT_TRUE(fetch(download));
  EXPECT_EQ(content("data.bin"), kAll);
}

TEST_F(DownloadRestart, AnOutdatedETagIsNotUsed) {
  serve_ranges();
  leave_part(version_of("\"v0\""), "XXXX");
  ASSERT_TRUE(fetch(wanted()));
  EXPECT_EQ(content("data.bin"), kAll);
  EXPECT_EQ(requests().size(), 1);
}

}  // namespace
}  // namespace gpupool::carry
