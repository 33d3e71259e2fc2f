// SPDX-License-Identifier: Apache-2.0
#include "s3/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "s3/listing_page.h"
#include "s3/xml.h"

namespace gpupool::carry::s3 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string contents(const std::string& key, const std::string& size = "3") {
  return "<Contents><Key>" + xml_escaped(key) + "</Key><ETag>&quot;" + std::to_string(key.size()) +
         "&quot;</ETag><Size>" + size + "</Size></Contents>";
}

std::string page(const std::string& inner) {
  return "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" +
         inner + "</ListBucketResult>";
}

// The names, or the failure's message.
std::vector<std::string> names(const std::string& prefix, const std::string& document) {
  Listing listing(prefix);
  if (auto next = read_page(document, prefix, listing); !next) return {next.error().message};
  if (auto finished = listing.finish(); !finished) return {finished.error().message};
  std::vector<std::string> all;
  for (std::size_t i = 0; i < listing.size(); ++i) all.emplace_back(listing.at(i).name);
  return all;
}

std::string refused(const std::vector<std::string>& keys, const std::string& prefix = "") {
  Listing listing(prefix);
  for (const auto& key : keys)
    if (auto added = listing.add(key, "e", 1); !added) return added.error().message;
  const auto finished = listing.finish();
  if (finished) return "not refused";
  EXPECT_EQ(finished.error().kind, FailureKind::kInvalid);
  return finished.error().message;
}

TEST(S3Listing, NamesAreBelowThePrefix) {
  EXPECT_THAT(names("a/", page(contents("a/x") + contents("a/") + contents("a/d/") + contents("a//y") +
                               contents("a/b/c"))),
              ElementsAre("b/c", "x", "y"));
  EXPECT_THAT(names("", page(contents("/x") + contents("b/c"))), ElementsAre("b/c", "x"));
  EXPECT_EQ(folder_prefix("a"), "a/");
  EXPECT_EQ(folder_prefix("a/"), "a/");
  EXPECT_EQ(folder_prefix(""), "");
}

TEST(S3Listing, WhatCannotBeAFile) {
  EXPECT_THAT(refused({"../x"}), HasSubstr("../x cannot be a file"));
  EXPECT_THAT(refused({"a/../../x"}), HasSubstr(".."));
  EXPECT_THAT(refused({"a/./x"}), HasSubstr("the part ."));
  EXPECT_THAT(refused({"a//x"}), HasSubstr("empty part"));
  EXPECT_THAT(refused({"//x"}), HasSubstr("absolute"));
  EXPECT_THAT(refused({"a/../x"}, "a/"), HasSubstr(".."));
  EXPECT_THAT(refused({std::string(256, 'x')}), HasSubstr("255"));
  EXPECT_THAT(refused({"x.gpupool-part"}), HasSubstr(".gpupool-part"));
  EXPECT_THAT(refused({"a\nb"}), HasSubstr("a b cannot be a file"));
}

TEST(S3Listing, OneNameTwice) {
  EXPECT_THAT(refused({"a", "a-b", "a/b"}), HasSubstr("a/b cannot be a file: another object is the file a"));
  EXPECT_THAT(refused({"a/b/c/d", "a/b"}), HasSubstr("another object is the file a/b"));
  EXPECT_THAT(refused({"x", "/x"}), HasSubstr("the same path"));
}

TEST(S3Listing, KeysAreDecodedIfTheServerSaysSo) {
  const std::string encoded = contents("a%20b+c%2Bd%C3%A4");
  EXPECT_THAT(names("", page(encoded + "<EncodingType>url</EncodingType>")), ElementsAre("a b c+d\xc3\xa4"));
  EXPECT_THAT(names("", page(encoded)), ElementsAre("a%20b+c%2Bd%C3%A4"));
  EXPECT_THAT(names("", page(contents("a%2") + "<EncodingType>url</EncodingType>")),
              ElementsAre(HasSubstr("cannot be read")));
  EXPECT_THAT(names("", page(contents("a&b<c>"))), ElementsAre("a&b<c>"));
}

TEST(S3Listing, PagesThatAreRefused) {
  for (const std::string& document :
       {std::string(), std::string("<html>"), std::string("<html></html>"),
        page(contents("x")).substr(0, 150),
        std::string("<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult>&a;</ListBucketResult>")})
    EXPECT_THAT(names("", document), ElementsAre(HasSubstr("does the endpoint speak S3?"))) << document;
  EXPECT_THAT(names("a/", page(contents("b/x"))), ElementsAre(HasSubstr("b/x, which was not asked for")));
  EXPECT_THAT(names("", page(contents("x", "-1"))), ElementsAre(HasSubstr("no size of x")));
  EXPECT_THAT(names("", page(contents("x", ""))), ElementsAre(HasSubstr("no size of x")));
  EXPECT_THAT(names("", page("<IsTruncated>true</IsTruncated>")), ElementsAre(HasSubstr("is cut")));
  std::string deep = "<ListBucketResult>";
  for (int i = 0; i < 40; ++i) deep += "<a>";
  EXPECT_THAT(names("", deep), ElementsAre(HasSubstr("speak S3?")));
}

TEST(S3Listing, IsTheSameAfterItWasKept) {
  Listing listing("p/");
  ASSERT_TRUE(listing.add("p/b c", "\"e-2\"", 1'000'000'000'000));
  ASSERT_TRUE(listing.add("p/a", "", 0));
  ASSERT_TRUE(listing.finish());
  const auto again = Listing::parse(std::string(listing.text()), "p/");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), 2);
  EXPECT_EQ(again->bytes(), 1'000'000'000'000);
  EXPECT_EQ(again->at(0).key, "p/a");
  EXPECT_EQ(again->at(0).etag, "");
  EXPECT_EQ(again->at(1).key, "p/b c");
  EXPECT_EQ(again->at(1).name, "b c");
  EXPECT_EQ(again->at(1).etag, "\"e-2\"");
  EXPECT_EQ(again->at(1).size, 1'000'000'000'000);
  EXPECT_EQ(again->text(), listing.text());
}

TEST(S3Listing, ADamagedTextIsRefused) {
  Listing listing("");
  ASSERT_TRUE(listing.add("a", "e", 1));
  ASSERT_TRUE(listing.finish());
  const std::string text(listing.text());
  for (const std::string& bad :
       {std::string(), text.substr(0, text.size() - 1), text.substr(1),
        text.substr(0, text.size() - 4) + "x\nend\n", text.substr(0, text.size() - 4) + "1\te\t\nend\n"}) {
    const auto parsed = Listing::parse(bad, "");
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().kind, FailureKind::kLocal);
  }
}

}  // namespace
}  // namespace gpupool::carry::s3
