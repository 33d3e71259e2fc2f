// SPDX-License-Identifier: Apache-2.0
#include "s3/upload.h"

#include <algorithm>
#include <utility>

#include "s3/file_source.h"
#include "s3/xml.h"
#include "transfer/call.h"
#include "transfer/refusal.h"
#include "transfer/url.h"

namespace gpupool::carry::s3 {
namespace {

constexpr std::int64_t kMostParts = 10'000;
constexpr std::int64_t kMiB = std::int64_t{1} << 20U;
constexpr std::chrono::seconds kAbortTime{10};
constexpr std::chrono::minutes kCompleteIdle{5};  // the server may copy the parts first

// A multipart upload. What it is asked to send is there only after complete().
class Parts {
 public:
  Parts(Session& session, HttpConnection& connection, FileSource& source, const std::string& key,
        const Context& context)
      : session_(session), connection_(connection), source_(source), key_(key), context_(context) {}

  Outcome<void> begin();
  Outcome<void> send(std::int64_t part_bytes);
  Outcome<void> complete();
  void abort();

 private:
  Outcome<HttpAnswer> ask(Call call) {
    call.deadline = context_.deadline;
    return carry::call(connection_, session_, call, context_.waiting, context_.stop);
  }
  std::string id_query() const { return "uploadId=" + percent_encoded(id_, false); }
  Outcome<bool> is_there();

  Session& session_;
  HttpConnection& connection_;
  FileSource& source_;
  const std::string& key_;
  const Context& context_;
  std::string id_;
  std::string list_;  // of the parts, as XML
};

Outcome<void> Parts::begin() {
  auto answer = ask({.method = "POST", .target = object_target(key_, "uploads="), .idle = context_.idle});
  if (!answer) return tl::unexpected(answer.error());
  id_ = xml_text(answer->body, "InitiateMultipartUploadResult/UploadId");
  if (id_.empty())
    return failed(FailureKind::kInvalid, "the server begins no upload of parts: does it speak S3?");
  return {};
}

Outcome<void> Parts::send(std::int64_t part_bytes) {
  const std::int64_t all = source_.file_size();
  for (std::int64_t at = 0, number = 1; at < all; at += part_bytes, ++number) {
    source_.choose(at, std::min(part_bytes, all - at));
    const std::string query = "partNumber=" + std::to_string(number) + "&" + id_query();
    auto answer = ask(
        {.method = "PUT", .target = object_target(key_, query), .source = &source_, .idle = context_.idle});
    if (!answer) return tl::unexpected(answer.error());
    const std::string& etag = answer->header("etag");
    if (etag.empty()) return failed(FailureKind::kInvalid, "the server has no ETag for a part");
    list_ += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" + xml_escaped(etag) +
             "</ETag></Part>";
  }
  return {};
}

Outcome<void> Parts::complete() {
  const Call last{.method = "POST",
                  .target = object_target(key_, id_query()),
                  .headers = {{"Content-Type", "application/xml"}},
                  .body = "<CompleteMultipartUpload>" + list_ + "</CompleteMultipartUpload>",
                  .idle = std::max<std::chrono::milliseconds>(context_.idle, kCompleteIdle)};
  Pace pace(context_.deadline, context_.waiting);
  while (true) {
    auto answer = ask(last);
    if (!answer) {
      // An earlier try may have done it although its answer was lost.
      if (answer.error().kind == FailureKind::kNotFound) {
        auto there = is_there();
        if (there && *there) return {};
      }
      return tl::unexpected(answer.error());
    }
    // An error may come after the status 200.
    if (xml_text(answer->body, "Error/Code").empty()) return {};
    const auto kind = session_.kind(*answer).value_or(FailureKind::kInvalid);
    const Failure failure{kind,
                          "the server cannot join the parts: " + for_message(session_.explain(*answer))};
    if (auto waited = pace.wait(failure, std::nullopt, context_.stop); !waited) return waited;
  }
}

// Whether the object has the file's size and was made of parts.
Outcome<bool> Parts::is_there() {
  auto answer = ask({.method = "HEAD", .target = object_target(key_), .idle = context_.idle});
  if (!answer) return tl::unexpected(answer.error());
  return answer->length() == source_.file_size() && answer->header("etag").find('-') != std::string::npos;
}

// Also after a stop request; what fails here is left to the server's rules for unfinished uploads.
void Parts::abort() {
  const Call call{.method = "DELETE",
                  .target = object_target(key_, id_query()),
                  .deadline = context_.waiting.clock->now() + kAbortTime,
                  .idle = kAbortTime};
  static_cast<void>(carry::call(connection_, session_, call, context_.waiting, {}));
}

Outcome<UploadedFile> put_parts(Session& session, HttpConnection& connection, FileSource& source,
                                const std::string& key, const Context& context, std::int64_t part_bytes) {
  const std::int64_t least = (source.file_size() + kMostParts - 1) / kMostParts;
  if (least > part_bytes) part_bytes = (least + kMiB - 1) / kMiB * kMiB;
  Parts parts(session, connection, source, key, context);
  if (auto begun = parts.begin(); !begun) return tl::unexpected(begun.error());
  const auto give_up = [&](Failure failure) {
    parts.abort();
    return tl::unexpected(std::move(failure));
  };
  if (auto sent = parts.send(part_bytes); !sent) return give_up(std::move(sent.error()));
  auto digest = source.finish();
  if (!digest) return give_up(std::move(digest.error()));
  if (auto done = parts.complete(); !done) return give_up(std::move(done.error()));
  return UploadedFile{source.file_size(), std::move(*digest)};
}

}  // namespace

Outcome<UploadedFile> put_object(Session& session, HttpConnection& connection, int fd,
                                 const std::string& name, const std::string& key, const Context& context,
                                 std::int64_t part_bytes) {
  auto source = FileSource::open(fd, name);
  if (!source) return tl::unexpected(source.error());
  if (source->file_size() > part_bytes)
    return put_parts(session, connection, *source, key, context, part_bytes);
  const Call put{.method = "PUT",
                 .target = object_target(key),
                 .source = &*source,
                 .deadline = context.deadline,
                 .idle = context.idle};
  auto answer = call(connection, session, put, context.waiting, context.stop);
  if (!answer) return tl::unexpected(answer.error());
  auto digest = source->finish();
  if (!digest) return tl::unexpected(digest.error());
  return UploadedFile{source->file_size(), std::move(*digest)};
}

Outcome<void> delete_object(Session& session, HttpConnection& connection, const std::string& key,
                            const Context& context) {
  const Call remove{
      .method = "DELETE", .target = object_target(key), .deadline = context.deadline, .idle = context.idle};
  auto answer = call(connection, session, remove, context.waiting, context.stop);
  if (!answer && answer.error().kind != FailureKind::kNotFound) return tl::unexpected(answer.error());
  return {};
}

}  // namespace gpupool::carry::s3
