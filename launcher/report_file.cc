// SPDX-License-Identifier: Apache-2.0
#include "launcher/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "api/worker_result_format.h"
#include "base/unique_fd.h"
#include "launcher/clean_text.h"
#include "launcher/expected.h"
#include "launcher/timestamp.h"

namespace gpupool::launcher {
namespace {

constexpr std::size_t kMaxReport = api::worker_result::kMaxReportBytes;
constexpr std::size_t kNewlines = 2;  // at its end: "\r\n"

Report unusable(std::string why) {
  Report report;
  report.error = std::move(why);
  return report;
}

Report why_not_opened(int error) {
  switch (error) {
    case ENOENT:
      return {};
    case ELOOP:
      return unusable("is a link");
    case ENXIO:  // a socket
      return unusable("is no regular file");
    default:
      return unusable(with_errno("cannot be opened", error));
  }
}

// The command can set the time of its file to anything.
std::string time_of(const struct stat& info) {
  constexpr std::time_t kEndOfYear9999 = 253'402'300'799;
  const std::timespec& time = info.st_mtim;
  return time.tv_sec < 0 || time.tv_sec > kEndOfYear9999 ? "" : rfc3339(time);
}

}  // namespace

Report read_report(const std::string& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return why_not_opened(errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return unusable("is no regular file");
  std::array<char, kMaxReport + kNewlines + 1> bytes{};
  const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) return unusable(with_errno("cannot be read", errno));
  std::string raw(bytes.data(), static_cast<std::size_t>(got));
  while (raw.size() <= kMaxReport + kNewlines && (raw.ends_with('\n') || raw.ends_with('\r'))) raw.pop_back();
  if (raw.size() > kMaxReport) return unusable("has more than " + std::to_string(kMaxReport) + " bytes");
  std::string text = clean_text(raw);
  // Bytes that are no UTF-8 have become longer.
  if (text.size() > kMaxReport) return unusable("is no UTF-8 text");
  return {std::move(text), time_of(info), ""};
}

}  // namespace gpupool::launcher
