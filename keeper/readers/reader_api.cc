// SPDX-License-Identifier: Apache-2.0
#include "readers/reader_api.h"

#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/rfc3339.h"
#include "net/json_answer.h"
#include "net/query.h"
#include "reader_server/reader_token.h"
#include "readers/attempt_json.h"
#include "readers/log_stream.h"
#include "readers/namespace_marks.h"

namespace gpupool::keeper {
namespace {

using Parameters = std::map<std::string, std::string>;

constexpr char kPlain[] = "text/plain; charset=utf-8";

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto read = std::from_chars(text.data(), last, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != last || number < 0) return std::nullopt;
  return number;
}

std::string value_of(const Parameters& parameters, const char* name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string() : found->second;
}

base::Result<LogQuery> read_log_query(const std::string& query) {
  const auto bad = [](const char* why) { return base::fail(base::ErrorCode::kInvalidArgument, why); };
  const auto parameters = net::read_query(query);
  if (!parameters) return bad("the query is not well-formed");
  LogQuery read{.timestamps = value_of(*parameters, "timestamps") == "true",
                .follow = value_of(*parameters, "follow") == "true"};
  if (const std::string text = value_of(*parameters, "tailLines"); !text.empty()) {
    const auto lines = number_in(text);
    if (!lines) return bad("tailLines is no number");
    read.tail_lines = static_cast<std::uint64_t>(*lines);
  }
  if (const std::string text = value_of(*parameters, "sinceTime"); !text.empty()) {
    read.since = base::parse_rfc3339(text);
    if (!read.since) return bad("sinceTime is no RFC 3339 time");
  }
  if (!read.timestamps && (read.tail_lines || read.since))
    return bad("tailLines and sinceTime need timestamps=true");
  return read;
}

net::ServerResponse nothing_here() { return net::error_answer(404, "there is nothing here"); }

}  // namespace

net::ServerResponse ReaderApi::answer(const net::ServerRequest& request) {
  const auto token = readers::reader_token(request);
  if (!token) return readers::no_token_answer();
  const auto parts = net::path_parts(request.path);
  if (parts.size() < 4 || parts[0] != "v1" || parts[1] != "namespaces" || !is_folder_name(parts[2]))
    return nothing_here();
  if (parts.size() == 4 && parts[3] == "attempts") return list_answer(*token, parts[2], request.query);
  if (parts.size() != 10 || parts[3] != "jobs" || parts[5] != "leases" || parts[7] != "ranks" ||
      parts[9] != "log")
    return nothing_here();
  const auto lease = number_in(parts[6]);
  const auto rank = number_in(parts[8]);
  if (!is_folder_name(parts[4]) || !lease || !rank) return nothing_here();
  return log_answer(*token, {{parts[2], parts[4], *lease}, *rank}, request.query);
}

// attempt: null: any of the namespace.
base::Result<void> ReaderApi::may_read(const std::string& token, const std::string& ns,
                                       const AttemptInfo* attempt, const std::stop_token& stop) {
  const kube::AccessQuestion right{
      .verb = "get", .group = "gpupool.dev", .resource = "gpujobs", .subresource = "log", .ns = ns};
  if (auto may = access_.may_read(token, right, "logs", stop); !may) return may;
  const auto info = access_.namespace_info(ns, stop);
  if (!info) return tl::unexpected<base::Error>(info.error());
  if (!attempt || began_in(*info, *attempt)) return {};
  return tl::unexpected<base::Error>(
      {base::ErrorCode::kNotFound, "the log is of a namespace of this name that was deleted", 404});
}

net::ServerResponse ReaderApi::list_answer(const std::string& token, const std::string& ns,
                                           const std::string& query) {
  const auto parameters = net::read_query(query);
  if (!parameters) return net::error_answer(400, "the query is not well-formed");
  const auto stop = stop_.get_token();
  if (const auto may = may_read(token, ns, nullptr, stop); !may) return net::error_answer(may.error());
  const auto info = access_.namespace_info(ns, stop);
  if (!info) return net::error_answer(info.error());
  auto attempts = attempts_.list(ns, value_of(*parameters, "job"), value_of(*parameters, "uid"));
  std::erase_if(attempts, [&](const AttemptInfo& attempt) { return !began_in(*info, attempt); });
  return net::json_answer(attempts_json(attempts, attempts_.limits(), clock_.wall()));
}

net::ServerResponse ReaderApi::log_answer(const std::string& token, const LogPath& path,
                                          const std::string& query) {
  const auto wanted = read_log_query(query);
  if (!wanted) return net::error_answer(wanted.error());
  const auto stop = stop_.get_token();
  // Who may not read is not told what there is.
  if (const auto may = may_read(token, path.id.ns, nullptr, stop); !may)
    return net::error_answer(may.error());
  const auto attempt = attempts_.find(path.id);
  if (!attempt || path.rank >= attempt->ranks)
    return net::error_answer(404, "no log of this attempt and rank is stored");
  if (const auto may = may_read(token, path.id.ns, &*attempt, stop); !may)
    return net::error_answer(may.error());
  const auto over = [this, id = path.id] {
    const auto now = attempts_.find(id);
    return !now || end_of(*now, attempts_.limits(), clock_.wall()).has_value();
  };
  const auto may_go_on = [this, token, found = *attempt](const std::stop_token& stopped) {
    return may_read(token, found.id.ns, &found, stopped).has_value();
  };
  const auto stream = std::make_shared<LogStream>(RankReader(attempts_.folder(path.id), path.rank), *wanted,
                                                  over, may_go_on, clock_);
  if (const auto opened = stream->open(); !opened) return net::error_answer(500, opened.error().message);
  return {.content_type = kPlain,
          .headers = {{"X-Content-Type-Options", "nosniff"}},
          .stream = [stream](const std::stop_token& stopped) { return stream->next(stopped); }};
}

}  // namespace gpupool::keeper
