// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;
using testing::Not;

class Redirect : public DownloadCase {
 protected:
  static std::string to(const std::string& location) {
    return answer_of("302 Found", "Location: " + location + "\r\nContent-Length: 0\r\n", "");
  }
};

TEST_F(Redirect, CredentialsStayWithTheirServer) {
  test::ScriptedServer other([&](test::Peer& peer) {
    const std::string request = peer.read_request();
    EXPECT_EQ(header_of(request, "Authorization"), "none");
    EXPECT_EQ(request.substr(0, request.find('\r')), "GET /elsewhere?signature=1 HTTP/1.1");
    peer.write(test::ok("data"));
  });
  serve([&](test::Peer& peer, const std::string&, int number) {
    peer.write(to(number == 1 ? "/here" : other.url() + "/elsewhere?signature=1"));
  });
  Download download = wanted();
  download.headers = {{"Authorization", "Bearer hidden"}};
  const auto written = fetch(download);
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_EQ(requests().size(), 2);
  EXPECT_EQ(header_of(requests()[1], "Authorization"), "Bearer hidden");
  EXPECT_THAT(requests()[1], HasSubstr("GET /here HTTP"));
}

TEST_F(Redirect, EndsAfterTen) {
  serve([&](test::Peer& peer, const std::string&, int) { peer.write(to("/again")); });
  const auto written = fetch(wanted());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kInvalid);
  EXPECT_EQ(requests().size(), 11);
}

TEST_F(Redirect, ToWhatIsRefused) {
  for (const char* location :
       {"ftp://h/x", "file:///etc/passwd", "http://user:hunter2@127.0.0.1/", "http://[", ""}) {
    serve([&](test::Peer& peer, const std::string&, int) { peer.write(to(location)); });
    const auto before = requests().size();
    const auto written = fetch(wanted());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, FailureKind::kInvalid);
    EXPECT_THAT(written.error().message, HasSubstr("redirects"));
    EXPECT_THAT(written.error().message, Not(HasSubstr("hunter2")));
    EXPECT_EQ(requests().size(), before + 1);
    server_.reset();
  }
}

TEST_F(Redirect, ErrorsNameTheServerThatMadeThem) {
  serve([&](test::Peer& peer, const std::string&, int number) {
    peer.write(number == 1 ? to("/moved?token=hunter2") : answer_of("404 Not Found", "", ""));
  });
  const auto written = fetch(wanted());
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("/moved: "));
  EXPECT_THAT(written.error().message, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace gpupool::carry
