// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "s3/fetch.h"
#include "tests/unit/carry-transfer/s3_case.h"

namespace gpupool::carry::s3 {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// The bucket has the objects p/NAME with the content of objects_; the ETag of all is "v1".
class S3Prefix : public S3Case {
 protected:
  void serve_bucket() {
    serve([this](test::Peer& peer, const std::string& request, int) { peer.write(answer(request)); });
  }
  std::string answer(const std::string& request) const {
    const std::string target = line_of(request).substr(4);
    if (target.starts_with("/data/?")) return xml_answer("200 OK", listing());
    if (header_of(request, "If-Match") != etag_)
      return error_answer("412 Precondition Failed", "PreconditionFailed");
    const auto found = objects_.find(target.substr(std::string("/data/p/").size()));
    return found == objects_.end() ? error_answer("404 Not Found", "NoSuchKey")
                                   : range_answer(request, etag_, found->second);
  }
  std::string listing() const {
    std::string text = "<ListBucketResult>";
    for (const auto& [name, content] : objects_)
      text += "<Contents><Key>p/" + name + "</Key><Size>" + std::to_string(content.size()) +
              "</Size><ETag>\"v1\"</ETag></Contents>";
    return text + "</ListBucketResult>";
  }
  Outcome<FetchedObjects> fetch_all() {
    api::S3Location where = location();
    where.prefix = "p";
    return fetch_prefix(where, secret(), "to", state_root_.get(), destination(), context());
  }
  std::string digest() const {
    std::string text;
    for (const auto& [name, content] : objects_)
      text += name + std::string(1, '\0') + digest::sha256_hex(content) + "\n";
    return digest::sha256_hex(text);
  }

  std::map<std::string, std::string> objects_{{"a", "1"}, {"a-b", "22"}, {"d/e", "333"}, {"empty", ""}};
  std::string etag_ = "\"v1\"";
  test::TemporaryFolder state_;
  base::UniqueFd state_root_ = std::move(*open_directory(state_.path()));
};

TEST_F(S3Prefix, AllObjectsAndTheirDigest) {
  for (int i = 0; i < 30; ++i)
    objects_["many/" + std::to_string(i)] = std::string(static_cast<std::size_t>(i), 'x');
  serve_bucket();
  const auto fetched = fetch_all();
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->files, 34);
  EXPECT_EQ(fetched->bytes, 6 + 435);
  EXPECT_EQ(fetched->digest, digest());
  for (const auto& [name, bytes] : objects_) EXPECT_EQ(content("to/" + name), bytes);
  EXPECT_EQ(budget_.left(), 1'000'000 - 6 - 435);
}

TEST_F(S3Prefix, ALaterProcessUsesTheSameListingAndTheCompleteFiles) {
  serve_bucket();
  const auto first = fetch_all();
  ASSERT_TRUE(first);
  std::filesystem::remove(folder_.path() + "/to/d/e");
  std::ofstream(folder_.path() + "/to/a-b") << "of another size";
  objects_["new"] = "4";
  const auto before = lines().size();
  SizeBudget fresh(6);
  api::S3Location where = location();
  where.prefix = "p";
  const auto second = fetch_prefix(where, secret(), "to", state_root_.get(), {root_.get(), fresh}, context());
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->digest, first->digest);
  EXPECT_EQ(fresh.left(), 0);
  auto later = lines();
  later.erase(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_THAT(later, UnorderedElementsAre("GET /data/p/d/e", "GET /data/p/a-b"));
  EXPECT_EQ(content("to/a-b"), "22");
  EXPECT_EQ(content("to/new"), "none");
}

TEST_F(S3Prefix, AChangedObjectIsAMismatch) {
  serve_bucket();
  etag_ = "\"v2\"";
  const auto fetched = fetch_all();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().kind, FailureKind::kMismatch);
  EXPECT_THAT(fetched.error().message, HasSubstr("changed while it was read"));
}

TEST_F(S3Prefix, NothingIsFetchedOfAListingThatIsRefused) {
  objects_["a/under-a-file"] = "x";
  serve_bucket();
  EXPECT_EQ(fetch_all().error().kind, FailureKind::kInvalid);
  objects_ = {{"x", std::string(1'000'001, 'x')}};
  EXPECT_EQ(fetch_all().error().kind, FailureKind::kTooLarge);
  objects_.clear();
  EXPECT_EQ(requests().size(), 2);
  EXPECT_EQ(files(), 0);
}

TEST_F(S3Prefix, NothingUnderThePrefix) {
  objects_.clear();
  serve_bucket();
  EXPECT_EQ(fetch_all().error().kind, FailureKind::kNotFound);
  EXPECT_THAT(fetch_all().error().message, HasSubstr("nothing under the prefix p/"));
}

TEST_F(S3Prefix, TheFirstFailureEndsAll) {
  for (int i = 0; i < 1000; ++i) objects_["many/" + std::to_string(i)] = "x";
  serve([this](test::Peer& peer, const std::string& request, int number) {
    peer.write(number == 1 ? answer(request) : error_answer("403 Forbidden", "AccessDenied"));
  });
  const auto fetched = fetch_all();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().kind, FailureKind::kDenied);
  EXPECT_THAT(fetched.error().message, HasSubstr("AccessDenied"));
  EXPECT_LE(requests().size(), 9);
}

TEST_F(S3Prefix, AStopEndsAll) {
  serve([&](test::Peer& peer, const std::string& request, int number) {
    if (number == 1) return void(peer.write(answer(request)));
    stop_.request_stop();
    peer.wait_until_client_closes();
  });
  api::S3Location where = location();
  where.prefix = "p";
  Context stoppable{.deadline = context().deadline, .stop = stop_.get_token(), .waiting = waiting_};
  EXPECT_EQ(fetch_prefix(where, secret(), "to", state_root_.get(), destination(), stoppable).error().kind,
            FailureKind::kStopped);
}

}  // namespace
}  // namespace gpupool::carry::s3
