// SPDX-License-Identifier: Apache-2.0
#include "push/s3_target.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/unique_fd.h"
#include "files/file_error.h"
#include "files/open_below.h"
#include "s3/session.h"
#include "s3/upload.h"
#include "transfer/http_connection.h"

namespace gpupool::carry {
namespace {

class S3Target final : public ResultTarget {
 public:
  S3Target(std::unique_ptr<s3::Session> session, std::string bucket, std::string prefix)
      : session_(std::move(session)),
        connection_(session_->trust()),
        bucket_(std::move(bucket)),
        prefix_(std::move(prefix)) {}

  Outcome<std::string> put(int root, const std::string& path, const std::string& name,
                           base::SteadyTime deadline, std::stop_token stop) override {
    auto file = open_below(root, path);
    if (!file) return tl::unexpected(file.error());
    auto sent = s3::put_object(*session_, connection_, file->get(), name, prefix_ + name,
                               {.deadline = deadline, .stop = std::move(stop)});
    if (!sent) return tl::unexpected(sent.error());
    return sent->sha256;
  }

  Outcome<void> put_text(const std::string& text, const std::string& name, base::SteadyTime deadline,
                         std::stop_token stop) override {
    const base::UniqueFd file(::memfd_create("gpupool-text", MFD_CLOEXEC));
    if (!file.valid()) return file_failure("cannot keep " + name, errno);
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return file_failure("cannot keep " + name, errno);
    auto sent = s3::put_object(*session_, connection_, file.get(), name, prefix_ + name,
                               {.deadline = deadline, .stop = std::move(stop)});
    if (!sent) return tl::unexpected(sent.error());
    return {};
  }

  Outcome<void> remove(const std::string& name, base::SteadyTime deadline, std::stop_token stop) override {
    return s3::delete_object(*session_, connection_, prefix_ + name,
                             {.deadline = deadline, .stop = std::move(stop)});
  }

  std::string text() const override { return "s3://" + bucket_ + "/" + prefix_; }

 private:
  const std::unique_ptr<s3::Session> session_;
  HttpConnection connection_;
  const std::string bucket_;
  const std::string prefix_;
};

}  // namespace

Outcome<std::unique_ptr<ResultTarget>> make_s3_target(api::S3Location location, const std::string& secret,
                                                      const base::Clock& clock) {
  auto session = s3::Session::open(location, secret, clock);
  if (!session) return tl::unexpected(session.error());
  auto& prefix = location.prefix;
  while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
  if (!prefix.empty()) prefix += '/';
  return std::make_unique<S3Target>(*std::move(session), std::move(location.bucket), std::move(prefix));
}

}  // namespace gpupool::carry
