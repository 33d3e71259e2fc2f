// SPDX-License-Identifier: Apache-2.0
#include "transfer/download.h"

#include <algorithm>
#include <utility>

#include "transfer/refusal.h"
#include "transfer/url.h"
#include "transfer/validators.h"
#include "transfer/write_behind.h"

namespace gpupool::carry {
namespace {

constexpr int kMaxRedirects = 10;
constexpr int kMaxOddAnswers = 3;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// One download: what is known of the object, and the file so far.
class Fetch final : public BodySink {
 public:
  Fetch(HttpConnection& connection, Protocol& protocol, const Download& download, int root,
        SizeBudget& budget, const Waiting& waiting, const std::stop_token& stop)
      : connection_(connection),
        protocol_(protocol),
        wanted_(download),
        root_(root),
        budget_(budget),
        pace_(download.deadline, waiting),
        stop_(stop),
        total_(download.size.value_or(-1)) {}

  Outcome<WrittenFile> run();
  Outcome<void> begin(const HttpAnswer& head) override;
  Outcome<void> piece(std::string_view bytes) override;

 private:
  Outcome<void> open(const std::string& version);
  Outcome<WrittenFile> tries();
  Outcome<void> one_try();
  std::vector<Header> conditions();
  Outcome<HttpAnswer> ask(const std::vector<Header>& conditions);
  Outcome<Url> redirected(const Url& from, const HttpAnswer& answer, int redirects);
  Outcome<void> judge(const HttpAnswer& answer);
  Outcome<void> begin_whole(const HttpAnswer& head);
  Outcome<void> begin_rest(const HttpAnswer& head);
  Outcome<void> check_room(std::int64_t bytes);
  Outcome<void> begin_anew(const std::string& why);
  tl::unexpected<Failure> fail(FailureKind kind, const std::string& why);

  // Not while a body comes, when writer_ has the file.
  std::int64_t size() const { return file_ ? file_->size() : 0; }
  bool whole() const { return size() > 0 && size() == total_; }
  bool fixed_version() const { return !wanted_.sha256.empty() || !wanted_.etag.empty(); }

  HttpConnection& connection_;
  Protocol& protocol_;
  const Download& wanted_;
  const int root_;
  SizeBudget& budget_;
  Pace pace_;
  const std::stop_token& stop_;

  std::optional<OutputFile> file_;
  WriteBehind writer_;
  std::int64_t received_ = 0;  // bytes of the object so far; those in writer_ count too
  std::string version_;
  std::string validator_;  // of the bytes in file_; empty: not known
  std::int64_t total_;     // of the object; -1: not known
  std::int64_t best_ = 0;  // the most bytes that file_ ever had
  std::int64_t asked_from_ = 0;
  int odd_answers_ = 0;
  bool blind_ = false;    // bytes of two tries were joined and only the SHA-256 can tell
  bool at_once_ = false;  // the next try need not wait
  bool named_ = false;    // the last failure has the URL in it
  std::string shown_;
  Amends amends_;
  std::optional<std::chrono::milliseconds> least_wait_;
};

tl::unexpected<Failure> Fetch::fail(FailureKind kind, const std::string& why) {
  named_ = true;
  return failed(kind, shown_ + ": " + why);
}

Outcome<void> Fetch::open(const std::string& version) {
  file_.reset();
  auto file = OutputFile::open(root_, wanted_.path, version, budget_);
  named_ = true;
  if (!file) return tl::unexpected(file.error());
  file_.emplace(std::move(*file));
  version_ = version;
  best_ = std::max(best_, size());
  return {};
}

Outcome<WrittenFile> Fetch::run() {
  auto written = tries();
  const bool outdated = !written && (written.error().kind == FailureKind::kMismatch ||
                                     written.error().kind == FailureKind::kTooLarge);
  if (outdated && file_) file_->discard();
  return written;
}

Outcome<WrittenFile> Fetch::tries() {
  if (fixed_version()) {
    const std::string& version = wanted_.sha256.empty() ? wanted_.etag : wanted_.sha256;
    if (auto opened = open(version); !opened) return tl::unexpected(opened.error());
  }
  while (true) {
    at_once_ = named_ = false;
    least_wait_.reset();
    Outcome<void> tried;
    if (!whole()) tried = one_try();
    if (tried) {
      auto written = file_->commit(wanted_.sha256, wanted_.mode);
      if (written || !blind_ || written.error().kind != FailureKind::kMismatch) return written;
      blind_ = false;  // what an earlier process left was of another object
      validator_.clear();
      total_ = wanted_.size.value_or(-1);
      if (auto opened = open(version_); !opened) return tl::unexpected(opened.error());
      continue;
    }
    if (size() > best_) {
      best_ = size();
      pace_.progress();
      amends_ = Amends();
    }
    if (at_once_) continue;
    Failure last = std::move(tried.error());
    if (!named_ && last.kind != FailureKind::kStopped) last.message = shown_ + ": " + last.message;
    if (auto waited = pace_.wait(last, least_wait_, stop_); !waited) return tl::unexpected(waited.error());
  }
}

Outcome<void> Fetch::one_try() {
  if (total_ >= 0 && size() > total_)
    if (auto emptied = file_->restart(); !emptied) return emptied;
  auto answer = ask(conditions());
  if (auto drained = writer_.drain(); !drained) {
    named_ = true;
    return drained;
  }
  if (!answer) return tl::unexpected(answer.error());
  return judge(*answer);
}

// Sets what part is asked for.
std::vector<Header> Fetch::conditions() {
  std::vector<Header> headers{{"Accept-Encoding", "identity"}};
  const bool resumes = size() > 0 && (!validator_.empty() || fixed_version());
  asked_from_ = resumes ? size() : 0;
  const bool if_match = resumes && wanted_.use_if_match && is_etag(validator_);
  if (!wanted_.etag.empty()) {
    headers.push_back({"If-Match", quoted_etag(wanted_.etag)});
  } else if (if_match) {
    headers.push_back({"If-Match", validator_});
  } else if (resumes && !validator_.empty()) {
    headers.push_back({"If-Range", validator_});
  }
  if (resumes) headers.push_back({"Range", "bytes=" + std::to_string(asked_from_) + "-"});
  return headers;
}

// Follows redirects.
Outcome<HttpAnswer> Fetch::ask(const std::vector<Header>& conditions) {
  auto url = parse_url(protocol_.url(wanted_.url));
  named_ = !url;
  if (!url) return tl::unexpected(url.error());
  const std::string own_origin = url->origin;
  for (int redirects = 0;; ++redirects) {
    shown_ = url->shown;
    HttpRequest request{
        .url = url->text, .headers = conditions, .time_left = pace_.left(), .idle = wanted_.idle};
    if (url->origin == own_origin)
      request.headers.insert(request.headers.end(), wanted_.headers.begin(), wanted_.headers.end());
    auto added = protocol_.sign(request);
    if (!added) return tl::unexpected(added.error());
    request.headers.insert(request.headers.end(), added->begin(), added->end());
    auto answer = connection_.perform(request, this, stop_);
    if (!answer || !is_redirect(answer->status) || !protocol_.follows_redirects()) return answer;
    auto next = redirected(*url, *answer, redirects);
    if (!next) return tl::unexpected(next.error());
    url = std::move(next);
  }
}

Outcome<Url> Fetch::redirected(const Url& from, const HttpAnswer& answer, int redirects) {
  const std::string& location = answer.header("location");
  if (location.empty()) return fail(FailureKind::kInvalid, "the server redirects and does not say where to");
  if (redirects == kMaxRedirects)
    return fail(FailureKind::kInvalid, "the server redirects more than 10 times");
  auto next = resolve_url(from, location);
  if (!next) return fail(FailureKind::kInvalid, "the server redirects, and " + next.error().message);
  if (from.scheme == "https" && next->scheme == "http")
    return fail(FailureKind::kInvalid,
                "the server redirects from https to " + next->shown + ", which is not safe");
  return next;
}

// The answer has come whole, and its body is in the file if it is a 2xx.
Outcome<void> Fetch::judge(const HttpAnswer& answer) {
  if (answer.status >= 200 && answer.status < 300) {
    if (total_ < 0 || size() == total_) return {};
    return fail(FailureKind::kUnavailable,
                std::to_string(size()) + " of " + std::to_string(total_) + " bytes have come");
  }
  if (answer.status == 416 && asked_from_ > 0) {
    const auto range = parse_content_range(answer.header("content-range"));
    if (range && range->total == size()) {  // an earlier process had all
      blind_ = blind_ || validator_.empty();
      return {};
    }
    return begin_anew("the server has not the bytes that it had");
  }
  if (answer.status == 412 && !wanted_.etag.empty())
    return fail(FailureKind::kMismatch, "the object changed while it was read");
  if (answer.status == 412 && asked_from_ > 0) return begin_anew("the object changed while it was read");
  auto amended = protocol_.amend(answer, amends_);
  if (!amended) return tl::unexpected(amended.error());
  at_once_ = *amended;
  least_wait_ = retry_after(answer, pace_.wall());
  named_ = true;
  return tl::unexpected(refusal(answer, shown_, protocol_));
}

Outcome<void> Fetch::begin(const HttpAnswer& head) {
  if (head.status != 200 && head.status != 206)
    return fail(FailureKind::kInvalid,
                "the server answers " + std::to_string(head.status) + ", which is no file");
  const std::string& encoding = head.header("content-encoding");
  if (!encoding.empty() && encoding != "identity" && encoding != "aws-chunked")
    return fail(FailureKind::kInvalid, "the server sends the file with the Content-Encoding " +
                                           for_message(encoding) + ", although asked for the plain bytes");
  const std::string& etag = head.header("etag");
  if (!wanted_.etag.empty() && !etag.empty() && !same_etag(etag, wanted_.etag))
    return fail(FailureKind::kMismatch, "the object changed while it was read");
  auto begun = head.status == 206 ? begin_rest(head) : begin_whole(head);
  received_ = size();
  return begun;
}

Outcome<void> Fetch::begin_whole(const HttpAnswer& head) {
  const std::int64_t length = head.length();
  if (wanted_.size && length >= 0 && length != *wanted_.size)
    return fail(FailureKind::kMismatch, "the object changed while it was read: it has " +
                                            std::to_string(length) + " bytes, and had " +
                                            std::to_string(*wanted_.size));
  validator_ = strong_validator(head);
  blind_ = false;
  total_ = wanted_.size.value_or(length);
  if (!fixed_version()) {
    const std::string version = validator_.empty() ? "" : validator_ + " " + wanted_.url;
    if (file_ && version != version_) {
      file_->discard();
      file_.reset();
    }
    if (!file_) {
      if (auto opened = open(version); !opened) return opened;
      if (size() > 0 && (total_ < 0 || size() <= total_)) {  // of an earlier process: only the rest is wanted
        at_once_ = true;
        return fail(FailureKind::kUnavailable, "a part is there");
      }
    }
  }
  if (size() > 0)
    if (auto emptied = file_->restart(); !emptied) return emptied;
  return check_room(length);
}

Outcome<void> Fetch::begin_rest(const HttpAnswer& head) {
  const auto range = parse_content_range(head.header("content-range"));
  const bool right = asked_from_ > 0 && range && range->first == asked_from_;
  const std::int64_t total = range ? range->total : -1;
  if (!right || (total >= 0 && total_ >= 0 && total != total_) || (total < 0 && total_ < 0))
    return begin_anew("the server answers with another part of the file than was asked for");
  const std::string& etag = head.header("etag");
  if (is_etag(validator_) && !etag.empty() && !same_etag(etag, validator_))
    return begin_anew("the object changed while it was read");
  if (validator_.empty()) {
    blind_ = wanted_.etag.empty();
    validator_ = strong_validator(head);
  }
  if (total >= 0) total_ = total;
  return check_room(range->last - range->first + 1);
}

Outcome<void> Fetch::check_room(std::int64_t bytes) {
  if (bytes <= budget_.left()) return {};
  return fail(FailureKind::kTooLarge, "the file has " + std::to_string(size() + bytes) +
                                          " bytes, and sizeLimit leaves " +
                                          std::to_string(size() + budget_.left()));
}

Outcome<void> Fetch::begin_anew(const std::string& why) {
  if (++odd_answers_ > kMaxOddAnswers) return fail(FailureKind::kMismatch, why + ", again and again");
  if (size() > 0)
    if (auto emptied = file_->restart(); !emptied) return emptied;
  validator_.clear();
  total_ = wanted_.size.value_or(-1);
  at_once_ = true;
  return fail(FailureKind::kUnavailable, why);
}

Outcome<void> Fetch::piece(std::string_view bytes) {
  received_ += static_cast<std::int64_t>(bytes.size());
  if (total_ >= 0 && received_ > total_) {
    if (auto drained = writer_.drain(); !drained) return drained;
    return begin_anew("the server sends more than the " + std::to_string(total_) +
                      " bytes that the file has");
  }
  auto wrote = writer_.write(*file_, bytes);
  named_ = !wrote;
  return wrote;
}

}  // namespace

Outcome<WrittenFile> download(HttpConnection& connection, Protocol& protocol, const Download& download,
                              int root, SizeBudget& budget, const Waiting& waiting,
                              const std::stop_token& stop) {
  return Fetch(connection, protocol, download, root, budget, waiting, stop).run();
}

Outcome<WrittenFile> download(const Download& download, int root, SizeBudget& budget, std::stop_token stop,
                              std::shared_ptr<const TrustStore> trust) {
  if (!trust) trust = std::make_shared<TrustStore>("");
  HttpConnection connection(std::move(trust));
  Protocol plain;
  return carry::download(connection, plain, download, root, budget, real_waiting(), stop);
}

}  // namespace gpupool::carry
