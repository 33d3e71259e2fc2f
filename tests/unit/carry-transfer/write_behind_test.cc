// SPDX-License-Identifier: Apache-2.0
#include "transfer/write_behind.h"

#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry {
namespace {

std::string many_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  unsigned state = 1;
  for (char& c : bytes) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return bytes;
}

class WriteBehindThread : public DownloadCase {
 protected:
  static Outcome<void> write_in_pieces(WriteBehind& writer, OutputFile& file, std::string_view bytes) {
    for (std::size_t size = 1; !bytes.empty(); size = size * 3 % 300'007) {
      const auto piece = bytes.substr(0, size);
      if (auto wrote = writer.write(file, piece); !wrote) return wrote;
      bytes.remove_prefix(piece.size());
    }
    return {};
  }
  const std::string bytes_ = many_bytes(5'000'001);
};

TEST_F(WriteBehindThread, KeepsTheOrder) {
  SizeBudget plenty(20'000'000);
  auto file = OutputFile::open(root_.get(), "x", "", plenty);
  ASSERT_TRUE(file);
  WriteBehind writer;
  ASSERT_TRUE(write_in_pieces(writer, *file, bytes_));
  ASSERT_TRUE(writer.drain());
  EXPECT_EQ(file->size(), 5'000'001);
  ASSERT_TRUE(write_in_pieces(writer, *file, "more"));
  ASSERT_TRUE(writer.drain());
  EXPECT_EQ(file->commit("")->sha256, digest::sha256_hex(bytes_ + "more"));
}

TEST_F(WriteBehindThread, ReturnsAFailureOnce) {
  SizeBudget little(2'000'000);
  auto file = OutputFile::open(root_.get(), "x", "", little);
  ASSERT_TRUE(file);
  WriteBehind writer;
  const auto wrote = write_in_pieces(writer, *file, bytes_);
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error().kind, FailureKind::kTooLarge);
  EXPECT_TRUE(writer.drain());
}

TEST_F(WriteBehindThread, ReturnsTheFailureOfTheLastBytes) {
  SizeBudget little(4'900'000);
  auto file = OutputFile::open(root_.get(), "x", "", little);
  ASSERT_TRUE(file);
  WriteBehind writer;
  ASSERT_TRUE(write_in_pieces(writer, *file, std::string_view(bytes_).substr(0, 4'890'000)));
  ASSERT_TRUE(writer.write(*file, std::string(20'000, 'x')));
  EXPECT_EQ(writer.drain().error().kind, FailureKind::kTooLarge);
}

TEST_F(WriteBehindThread, ALargeDownloadGoesOnAfterACut) {
  serve([this](test::Peer& peer, const std::string& request, int number) {
    peer.write(number == 1 ? cut_answer("\"v1\"", bytes_, 3'333'333)
                           : range_answer(request, "\"v1\"", bytes_));
  });
  SizeBudget plenty(5'000'001);
  HttpConnection connection(std::make_shared<TrustStore>(""));
  Protocol plain;
  const auto written = download(connection, plain, wanted(), root_.get(), plenty, waiting_, {});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->sha256, digest::sha256_hex(bytes_));
  EXPECT_EQ(header_of(requests().at(1), "Range"), "bytes=3333333-");
  EXPECT_EQ(plenty.left(), 0);
}

TEST_F(WriteBehindThread, ALargeBodyWithoutLengthStopsAtTheBudget) {
  serve([this](test::Peer& peer, const std::string&, int) { peer.write(answer_of("200 OK", "", bytes_)); });
  SizeBudget little(2'000'000);
  HttpConnection connection(std::make_shared<TrustStore>(""));
  Protocol plain;
  const auto written = download(connection, plain, wanted(), root_.get(), little, waiting_, {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, FailureKind::kTooLarge);
  EXPECT_EQ(little.left(), 2'000'000);
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace gpupool::carry
