// SPDX-License-Identifier: Apache-2.0
#include "s3/upload.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <fstream>

#include "tests/unit/carry-transfer/s3_case.h"

namespace gpupool::carry::s3 {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kBegun[] =
    "<InitiateMultipartUploadResult><UploadId>u/1+</UploadId></InitiateMultipartUploadResult>";
constexpr char kJoined[] = "<CompleteMultipartUploadResult/>";

class S3Upload : public S3Case {
 protected:
  S3Upload() { write(kText); }
  void write(const std::string& text) const { std::ofstream(source()) << text; }
  std::string source() const { return data_.path() + "/result.bin"; }
  Outcome<UploadedFile> put(std::int64_t part_bytes = kPartBytes) {
    const auto own = session();
    HttpConnection connection(own->trust());
    const base::UniqueFd fd(::open(source().c_str(), O_RDONLY | O_CLOEXEC));
    return put_object(*own, connection, fd.get(), "result.bin", "out/r", context(), part_bytes);
  }
  static std::string body_of(const std::string& request) {
    return request.substr(request.find("\r\n\r\n") + 4);
  }
  // Answers a multipart upload as a server does.
  static std::string parts_answer(const std::string& request) {
    const std::string line = line_of(request);
    if (line == "POST /data/out/r?uploads=") return xml_answer("200 OK", kBegun);
    if (line.starts_with("PUT")) return xml_answer("200 OK", "", "ETag: \"" + body_of(request) + "\"\r\n");
    return xml_answer("200 OK", kJoined);
  }

  const std::string kText = "0123456789";
  test::TemporaryFolder data_;
};

TEST_F(S3Upload, OneRequest) {
  serve([](test::Peer& peer, const std::string&, int) { peer.write(test::ok("")); });
  const auto done = put();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->bytes, 10);
  EXPECT_EQ(done->sha256, digest::sha256_hex(kText));
  EXPECT_THAT(lines(), ElementsAre("PUT /data/out/r"));
  EXPECT_EQ(header_of(requests()[0], "Content-Length"), "10");
  EXPECT_EQ(header_of(requests()[0], "x-amz-content-sha256"), "UNSIGNED-PAYLOAD");
  EXPECT_EQ(header_of(requests()[0], "If-None-Match"), "none");
  EXPECT_EQ(body_of(requests()[0]), kText);
}

TEST_F(S3Upload, AnEmptyFile) {
  write("");
  serve([](test::Peer& peer, const std::string&, int) { peer.write(test::ok("")); });
  ASSERT_TRUE(put());
  EXPECT_EQ(header_of(requests()[0], "Content-Length"), "0");
  EXPECT_EQ(header_of(requests()[0], "x-amz-content-sha256"), digest::sha256_hex(""));
}

TEST_F(S3Upload, IsMadeAgainWhole) {
  serve([](test::Peer& peer, const std::string&, int number) {
    if (number == 2) return;  // the connection is closed
    peer.write(number == 1 ? error_answer("503 Slow Down", "SlowDown") : test::ok(""));
  });
  const auto done = put();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->sha256, digest::sha256_hex(kText));
  ASSERT_EQ(requests().size(), 3);
  EXPECT_EQ(body_of(requests()[2]), kText);
}

TEST_F(S3Upload, AFileThatChangesIsAMismatch) {
  serve([this](test::Peer& peer, const std::string&, int) {
    ASSERT_EQ(::truncate(source().c_str(), 20), 0);
    peer.write(test::ok(""));
  });
  const auto done = put();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, FailureKind::kMismatch);
  EXPECT_EQ(done.error().message, "result.bin changed while it was read");
}

TEST_F(S3Upload, AnotherSizeWithTheSameTimeIsAChangeToo) {
  serve([this](test::Peer& peer, const std::string&, int) {
    struct stat status{};
    ASSERT_EQ(::stat(source().c_str(), &status), 0);
    ASSERT_EQ(::truncate(source().c_str(), 20), 0);
    const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, source().c_str(), times.data(), 0), 0);
    peer.write(test::ok(""));
  });
  EXPECT_EQ(put().error().kind, FailureKind::kMismatch);
}

TEST_F(S3Upload, TheHashIsThatOfTheFileAfterACut) {
  const std::string large(3'000'000, 'x');
  write(large + "end");
  server_ = std::make_unique<test::ScriptedServer>([&](test::Peer& peer) {
    peer.write("HTTP/1.1 100 Continue\r\n\r\n");
    if (peer.number() == 1) return void(peer.read_exactly(1'000'000));
    peer.read_request();
    peer.write(test::ok(""));
  });
  const auto done = put();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(server_->connections(), 2);
  EXPECT_EQ(done->sha256, digest::sha256_hex(large + "end"));
}

TEST_F(S3Upload, OnlyRegularFiles) {
  serve([](test::Peer& peer, const std::string&, int) { peer.write(test::ok("")); });
  const auto own = session();
  HttpConnection connection(own->trust());
  EXPECT_EQ(put_object(*own, connection, root_.get(), "folder", "k", context()).error().kind,
            FailureKind::kInvalid);
  EXPECT_TRUE(requests().empty());
}

TEST_F(S3Upload, Parts) {
  serve([](test::Peer& peer, const std::string& request, int) { peer.write(parts_answer(request)); });
  const auto done = put(4);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->bytes, 10);
  EXPECT_EQ(done->sha256, digest::sha256_hex(kText));
  EXPECT_THAT(
      lines(),
      ElementsAre("POST /data/out/r?uploads=", "PUT /data/out/r?partNumber=1&uploadId=u%2F1%2B",
                  "PUT /data/out/r?partNumber=2&uploadId=u%2F1%2B",
                  "PUT /data/out/r?partNumber=3&uploadId=u%2F1%2B", "POST /data/out/r?uploadId=u%2F1%2B"));
  EXPECT_EQ(body_of(requests()[2]), "4567");
  EXPECT_EQ(body_of(requests()[4]),
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&quot;0123&quot;</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>&quot;4567&quot;</ETag></Part>"
            "<Part><PartNumber>3</PartNumber><ETag>&quot;89&quot;</ETag></Part></CompleteMultipartUpload>");
}

TEST_F(S3Upload, PartsOfAFileThatChangesAreAborted) {
  serve([this](test::Peer& peer, const std::string& request, int number) {
    if (number == 3) std::ofstream(source(), std::ios::app) << "more";
    peer.write(parts_answer(request));
  });
  EXPECT_EQ(put(4).error().kind, FailureKind::kMismatch);
  EXPECT_EQ(lines().back(), "DELETE /data/out/r?uploadId=u%2F1%2B");
  EXPECT_EQ(lines().size(), 5);
}

TEST_F(S3Upload, PartsThatAreDeniedAreAborted) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    peer.write(number == 3 ? error_answer("403 Forbidden", "AccessDenied") : parts_answer(request));
  });
  EXPECT_EQ(put(4).error().kind, FailureKind::kDenied);
  EXPECT_EQ(lines().back(), "DELETE /data/out/r?uploadId=u%2F1%2B");
}

TEST_F(S3Upload, AnErrorMayComeWithTheStatus200) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    if (number == 5) return void(peer.write(error_answer("200 OK", "InternalError")));
    peer.write(number == 6 ? error_answer("200 OK", "InvalidPart") : parts_answer(request));
  });
  const auto done = put(4);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, FailureKind::kInvalid);
  EXPECT_THAT(done.error().message, HasSubstr("cannot join the parts: InvalidPart"));
  EXPECT_EQ(lines().back(), "DELETE /data/out/r?uploadId=u%2F1%2B");
}

TEST_F(S3Upload, AnAnswerThatWasLostIsNoFailure) {
  serve([](test::Peer& peer, const std::string& request, int number) {
    if (number == 5) return;
    if (number == 6) return void(peer.write(error_answer("404 Not Found", "NoSuchUpload")));
    peer.write(number == 7 ? answer_of("200 OK", "Content-Length: 10\r\nETag: \"x-3\"\r\n", "")
                           : parts_answer(request));
  });
  const auto done = put(4);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(lines().back(), "HEAD /data/out/r");
}

TEST_F(S3Upload, Deleting) {
  serve([](test::Peer& peer, const std::string&, int number) {
    peer.write(number == 1 ? answer_of("204 No Content", "", "")
                           : error_answer("404 Not Found", "NoSuchKey"));
  });
  const auto own = session();
  HttpConnection connection(own->trust());
  EXPECT_TRUE(delete_object(*own, connection, "out/r", context()));
  EXPECT_TRUE(delete_object(*own, connection, "out/r", context()));
  EXPECT_EQ(lines()[0], "DELETE /data/out/r");
}

}  // namespace
}  // namespace gpupool::carry::s3
