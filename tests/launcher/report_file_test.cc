// SPDX-License-Identifier: Apache-2.0
#include "launcher/report_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace gpupool::launcher {
namespace {

class ReportFile : public testing::Test {
 protected:
  ReportFile() {
    std::string pattern = testing::TempDir() + "/report-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~ReportFile() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ / "report.json"; }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  Report read(const std::string& text) const {
    write(text);
    return read_report(path());
  }
  std::string error() const {
    const Report report = read_report(path());
    EXPECT_FALSE(report.text.has_value());
    EXPECT_EQ(report.written_at, "");
    return report.error;
  }
  void set_time(std::time_t seconds, long nanoseconds = 0) const {
    const std::timespec times[] = {{0, UTIME_OMIT}, {seconds, nanoseconds}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path().c_str(), times, 0), 0);
  }

  std::filesystem::path directory_;
};

TEST_F(ReportFile, IsTakenAsItIs) {
  write(R"({"step":1200,"path":"step-1200"})");
  set_time(1'767'323'045, 678'900'000);
  EXPECT_EQ(read_report(path()),
            (Report{R"({"step":1200,"path":"step-1200"})", "2026-01-02T03:04:05.678Z", ""}));
  EXPECT_EQ(read("no JSON at all").text, "no JSON at all") << "that is for the operator to say";
  EXPECT_EQ(read("").text, "");
}

TEST_F(ReportFile, IsNothingWhereThereIsNone) {
  EXPECT_EQ(read_report(path()), Report());
  EXPECT_EQ(read_report((directory_ / "no" / "report.json").string()), Report());
}

TEST_F(ReportFile, NewlinesAtItsEndDoNotCount) {
  const std::string longest(300, 'x');
  EXPECT_EQ(read("{}\n\n").text, "{}");
  EXPECT_EQ(read(longest).text, longest);
  EXPECT_EQ(read(longest + "\n").text, longest);
  EXPECT_EQ(read(longest + "\r\n").text, longest);
  for (const std::string& large :
       {longest + "x", longest + "\nx", longest + "\n\n\n", longest + std::string(100'000, '\n')})
    EXPECT_EQ(read(large).error, "has more than 300 bytes") << large.size();
}

TEST_F(ReportFile, MayBeHuge) {
  write("x");
  std::filesystem::resize_file(path(), std::uintmax_t{1} << 40U);
  EXPECT_EQ(error(), "has more than 300 bytes");
}

TEST_F(ReportFile, LosesWhatIsNoText) {
  EXPECT_EQ(read("{\"step\":1}\x1b[2J\x07").text, R"({"step":1})");
  EXPECT_EQ(read("a\xff").text, "a\xef\xbf\xbd");
  EXPECT_EQ(read(std::string("a\0b", 3)).text, "ab");
  EXPECT_EQ(read(std::string(300, '\xff')).error, "is no UTF-8 text");
}

TEST_F(ReportFile, IsNoLink) {
  std::ofstream(directory_ / "secret") << "secret";
  std::filesystem::create_symlink(directory_ / "secret", path());
  EXPECT_EQ(error(), "is a link");
  std::filesystem::remove(directory_ / "secret");
  EXPECT_EQ(error(), "is a link") << "that leads nowhere";
}

TEST_F(ReportFile, IsNoDirectoryPipeOrSocket) {
  std::filesystem::create_directory(path());
  EXPECT_EQ(error(), "is no regular file");
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0644), 0);
  EXPECT_EQ(error(), "is no regular file") << "and nobody waits for a writer";
  std::filesystem::remove(path());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path().size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, path().c_str());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(error(), "is no regular file");
  ::close(socket);
}

TEST_F(ReportFile, ItsTimeMayBeAnything) {
  write("{}");
  for (const std::time_t seconds : {std::time_t{-1}, std::time_t{253'402'300'800}}) {
    set_time(seconds);
    struct stat info{};
    ASSERT_EQ(::stat(path().c_str(), &info), 0);
    if (info.st_mtim.tv_sec != seconds) continue;  // this file system cannot keep it
    EXPECT_EQ(read_report(path()).written_at, "") << seconds;
    EXPECT_EQ(read_report(path()).text, "{}");
  }
  set_time(0);
  EXPECT_EQ(read_report(path()).written_at, "1970-01-01T00:00:00.000Z");
}

}  // namespace
}  // namespace gpupool::launcher
