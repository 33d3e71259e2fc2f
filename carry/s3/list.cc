// SPDX-License-Identifier: Apache-2.0
#include "s3/list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "files/file_error.h"
#include "files/output_file.h"
#include "s3/listing_page.h"
#include "transfer/call.h"
#include "transfer/refusal.h"
#include "transfer/url.h"

namespace gpupool::carry::s3 {
namespace {

// nullopt if there is none.
Outcome<std::optional<std::string>> read_kept(int state, const std::string& name) {
  const base::UniqueFd fd(::openat(state, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return std::optional<std::string>();
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0)
    return file_failure("cannot open the stored listing", errno);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const auto got = ::read(fd.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return file_failure("cannot read the stored listing", got < 0 ? errno : EIO);
    done += static_cast<std::size_t>(got);
  }
  return std::optional<std::string>(std::move(text));
}

Outcome<void> keep(const Listing& listing, int state, const std::string& name) {
  SizeBudget plenty(std::numeric_limits<std::int64_t>::max());
  auto file = OutputFile::open(state, name, "", plenty);
  if (!file) return tl::unexpected(file.error());
  if (auto wrote = file->write(listing.text()); !wrote) return wrote;
  if (auto done = file->commit("", 0600); !done) return tl::unexpected(done.error());
  return {};
}

}  // namespace

Outcome<Listing> list(Session& session, HttpConnection& connection, const std::string& prefix,
                      const Context& context) {
  const std::string folder = folder_prefix(prefix);
  const std::string query =
      "encoding-type=url&list-type=2&max-keys=1000&prefix=" + percent_encoded(folder, false);
  Listing listing(folder);
  std::string token;
  do {
    const std::string more = token.empty() ? "" : "continuation-token=" + percent_encoded(token, false) + "&";
    const Call page{
        .target = bucket_target(more + query), .deadline = context.deadline, .idle = context.idle};
    auto answer = call(connection, session, page, context.waiting, context.stop);
    if (!answer) return tl::unexpected(answer.error());
    auto next = read_page(answer->body, folder, listing);
    if (!next) return tl::unexpected(next.error());
    if (!next->empty() && *next == token)
      return failed(FailureKind::kInvalid, "the server's list of objects does not end");
    token = std::move(*next);
  } while (!token.empty());
  if (listing.size() == 0)
    return failed(FailureKind::kNotFound, "there is nothing under the prefix " + for_message(folder));
  if (auto finished = listing.finish(); !finished) return tl::unexpected(finished.error());
  return listing;
}

Outcome<Listing> kept_list(Session& session, HttpConnection& connection, const std::string& prefix, int state,
                           const std::string& name, const Context& context) {
  auto kept = read_kept(state, name);
  if (!kept) return tl::unexpected(kept.error());
  if (*kept) return Listing::parse(std::move(**kept), folder_prefix(prefix));
  auto listing = list(session, connection, prefix, context);
  if (!listing) return listing;
  if (auto stored = keep(*listing, state, name); !stored) return tl::unexpected(stored.error());
  return listing;
}

}  // namespace gpupool::carry::s3
