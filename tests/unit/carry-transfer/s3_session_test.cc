// SPDX-License-Identifier: Apache-2.0
#include "s3/fetch.h"
#include "s3/list.h"
#include "tests/unit/carry-transfer/s3_case.h"

namespace gpupool::carry::s3 {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class S3Session : public S3Case {
 protected:
  Outcome<WrittenFile> fetch_key(const std::string& key = "k", const std::string& secret_directory = "own") {
    api::S3Location where = location();
    where.key = key;
    return fetch_object(where, secret_directory == "own" ? secret() : secret_directory, "file", "",
                        destination(), context());
  }
  std::vector<std::string> regions() const {
    std::vector<std::string> all;
    for (const auto& request : requests()) {
      const std::string value = header_of(request, "Authorization");
      const std::size_t begin = value.find("/20260102/") + 10;
      all.push_back(value.substr(begin, value.find('/', begin) - begin));
    }
    return all;
  }
};

TEST_F(S3Session, RequestsAreSigned) {
  put_secret("AWS_SESSION_TOKEN", "token");
  serve([](test::Peer& peer, const std::string&, int) { peer.write(test::ok("data")); });
  const auto written = fetch_key("a b/c+d=(e)");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(lines(), ElementsAre("GET /data/a%20b/c%2Bd%3D%28e%29"));
  const std::string request = requests()[0];
  EXPECT_EQ(header_of(request, "x-amz-content-sha256"), digest::sha256_hex(""));
  EXPECT_EQ(header_of(request, "x-amz-date"), "20260102T030405Z");
  EXPECT_EQ(header_of(request, "x-amz-security-token"), "token");
  EXPECT_THAT(
      header_of(request, "Authorization"),
      HasSubstr("AWS4-HMAC-SHA256 Credential=id/20260102/us-east-1/s3/aws4_request, "
                "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature="));
}

TEST_F(S3Session, WithoutASecretNothingIsSigned) {
  serve([](test::Peer& peer, const std::string&, int) { peer.write(test::ok("data")); });
  ASSERT_TRUE(fetch_key("k", ""));
  EXPECT_EQ(header_of(requests()[0], "Authorization"), "none");
}

TEST_F(S3Session, TheServerTellsTheRegion) {
  const std::vector<std::string> answers{
      error_answer("301 Moved Permanently", "PermanentRedirect", "", "x-amz-bucket-region: eu-west-1\r\n"),
      error_answer("400 Bad Request", "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")};
  for (const auto& answer : answers) {
    serve([&](test::Peer& peer, const std::string& request, int) {
      const bool right = request.find("/eu-west-1/s3/") != std::string::npos;
      peer.write(right ? test::ok("data") : answer);
    });
    const auto before = regions().size();
    const auto written = fetch_key();
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(regions().at(before), "us-east-1");
    EXPECT_EQ(regions().at(before + 1), "eu-west-1");
    server_.reset();
  }
  EXPECT_TRUE(clock_.waits().empty());
}

TEST_F(S3Session, TheRegionIsLearnedOnce) {
  serve([](test::Peer& peer, const std::string&, int number) {
    peer.write(error_answer("400 Bad Request", "AuthorizationHeaderMalformed",
                            "<Region>r-" + std::to_string(number) + "</Region>"));
  });
  EXPECT_EQ(fetch_key().error().kind, FailureKind::kInvalid);
  EXPECT_THAT(regions(), ElementsAre("us-east-1", "r-1"));
}

TEST_F(S3Session, ARequestThatWasUnderWayWhenTheRegionWasLearnedIsMadeAgain) {
  serve([](test::Peer&, const std::string&, int) {});
  const auto own = session();
  const HttpAnswer answer{.status = 400, .headers = {{"x-amz-bucket-region", "us-east-1"}}};
  Amends first;
  EXPECT_FALSE(*own->amend(answer, first));  // it is the one in use
  const HttpAnswer other{.status = 400, .headers = {{"x-amz-bucket-region", "eu-west-1"}}};
  EXPECT_TRUE(*own->amend(other, first));
  EXPECT_FALSE(*own->amend(other, first));
  Amends second;
  EXPECT_TRUE(*own->amend(other, second));
  EXPECT_FALSE(*own->amend(other, second));
}

TEST_F(S3Session, ARegionThatIsNoneIsNotUsed) {
  serve([](test::Peer& peer, const std::string&, int) {
    peer.write(error_answer("403 Forbidden", "AccessDenied", "<Region>evil.com/</Region>"));
  });
  EXPECT_EQ(fetch_key().error().kind, FailureKind::kDenied);
  EXPECT_EQ(requests().size(), 1);
}

TEST_F(S3Session, NoRedirectIsFollowed) {
  const test::ScriptedServer other([](test::Peer& peer) {
    ADD_FAILURE() << peer.read_request();
    peer.write(test::ok("data"));
  });
  serve([&](test::Peer& peer, const std::string&, int) {
    peer.write(error_answer("307 Temporary Redirect", "TemporaryRedirect", "",
                            "Location: " + other.url() + "/data/k\r\n"));
  });
  const auto written = fetch_key();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kInvalid);
  EXPECT_THAT(written.error().message,
              HasSubstr("/data/k: the server answers 307: TemporaryRedirect: of the server"));
}

TEST_F(S3Session, AnExpiredTokenIsReadAgain) {
  put_secret("AWS_SESSION_TOKEN", "old");
  serve([&](test::Peer& peer, const std::string& request, int) {
    put_secret("AWS_SESSION_TOKEN", "new");
    const bool good = header_of(request, "x-amz-security-token") == "new";
    peer.write(good ? test::ok("data") : error_answer("400 Bad Request", "ExpiredToken"));
  });
  ASSERT_TRUE(fetch_key());
  EXPECT_EQ(requests().size(), 2);
}

TEST_F(S3Session, AnExpiredTokenIsReadAgainOnce) {
  serve([&](test::Peer& peer, const std::string&, int) {
    peer.write(error_answer("400 Bad Request", "ExpiredToken"));
  });
  EXPECT_EQ(fetch_key().error().kind, FailureKind::kDenied);
  EXPECT_EQ(requests().size(), 2);
}

TEST_F(S3Session, ErrorsHaveTheServersWords) {
  serve([](test::Peer& peer, const std::string&, int) {
    peer.write(xml_answer("403 Forbidden",
                          "<Error><Code>SignatureDoesNotMatch</Code><Message>no&#10;way</Message>"
                          "<StringToSign>hidden</StringToSign></Error>"));
  });
  const auto written = fetch_key();
  EXPECT_EQ(written.error().kind, FailureKind::kDenied);
  EXPECT_THAT(written.error().message,
              AllOf(HasSubstr("403: SignatureDoesNotMatch: no way"), Not(HasSubstr("hidden"))));
}

TEST_F(S3Session, SlowDownIsTriedAgain) {
  serve([](test::Peer& peer, const std::string&, int number) {
    peer.write(number == 1
                   ? error_answer("503 Slow Down", "SlowDown")
                   : (number == 2 ? error_answer("400 Bad Request", "RequestTimeout") : test::ok("data")));
  });
  ASSERT_TRUE(fetch_key());
  EXPECT_EQ(requests().size(), 3);
}

TEST_F(S3Session, AListingGoesOn) {
  serve([](test::Peer& peer, const std::string&, int number) {
    const std::string key = "<Contents><Key>p/" + std::to_string(number) + "</Key><Size>1</Size></Contents>";
    const std::string more =
        "<IsTruncated>true</IsTruncated><NextContinuationToken>a+b/=" + std::to_string(number) +
        "</NextContinuationToken>";
    peer.write(
        xml_answer("200 OK", "<ListBucketResult>" + key + (number == 3 ? "" : more) + "</ListBucketResult>"));
  });
  const auto own = session();
  HttpConnection connection(own->trust());
  const auto listing = list(*own, connection, "p", context());
  ASSERT_TRUE(listing) << listing.error().message;
  EXPECT_EQ(listing->size(), 3);
  EXPECT_THAT(
      lines(),
      ElementsAre(
          "GET /data/?encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F",
          "GET "
          "/data/?continuation-token=a%2Bb%2F%3D1&encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F",
          "GET "
          "/data/?continuation-token=a%2Bb%2F%3D2&encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F"));
}

TEST_F(S3Session, AListingThatDoesNotEndIsGivenUp) {
  serve([](test::Peer& peer, const std::string&, int) {
    peer.write(xml_answer("200 OK",
                          "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x"
                          "</NextContinuationToken></ListBucketResult>"));
  });
  const auto own = session();
  HttpConnection connection(own->trust());
  EXPECT_THAT(list(*own, connection, "p", context()).error().message, HasSubstr("does not end"));
}

}  // namespace
}  // namespace gpupool::carry::s3
