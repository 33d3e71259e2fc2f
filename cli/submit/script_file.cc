// SPDX-License-Identifier: Apache-2.0
#include "submit/script_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/read_file.h"
#include "screen/plain_text.h"

namespace gpupool::submit {
namespace {

constexpr std::size_t kMostBytes = std::size_t{900} << 10;

tl::unexpected<base::Error> wrong_script(std::string message) {
  return base::fail(base::ErrorCode::kInvalidArgument, std::move(message));
}

// A key of a ConfigMap: letters, digits, '-', '_' and '.'.
std::string key_of(const std::string& file) {
  std::string key = file.substr(0, 200);
  for (char& c : key) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!good) c = '_';
  }
  return key == "." || key.starts_with("..") ? "_" + key : key;
}

std::vector<std::string> interpreter_of(const std::string& key, const std::string& content) {
  if (content.starts_with("#!")) return {};
  if (key.ends_with(".py")) return {"python3"};
  if (key.ends_with(".sh")) return {"sh"};
  return {""};
}

// plain_lines() replaces what is no UTF-8 and nothing that may be in a script but control characters.
bool is_text(const std::string& content) {
  static constexpr const char* kReplacement = "\xef\xbf\xbd";
  const bool has_nul = content.find('\0') != std::string::npos;
  const auto count = [](const std::string& text) {
    std::size_t found = 0;
    for (auto at = text.find(kReplacement); at != std::string::npos; at = text.find(kReplacement, at + 1))
      ++found;
    return found;
  };
  return !has_nul && count(screen::plain_lines(content)) == count(content);
}

}  // namespace

base::Result<SentScript> read_script(const std::string& path, const std::string& job_name) {
  auto content = base::read_file(path);
  if (!content) return wrong_script(content.error().message);
  if (content->size() > kMostBytes) {
    return wrong_script(
        path + " has " + std::to_string(content->size() >> 10) +
        " KiB; a script may have 900. Put larger files into the image or on a volume (--claim)");
  }
  if (!is_text(*content))
    return wrong_script(path + " is no text in UTF-8; put programs into the image or on a volume (--claim)");
  SentScript sent;
  sent.script = {.config_map = job_name + "-script",
                 .file = key_of(std::filesystem::path(path).filename().string()),
                 .content = std::move(*content)};
  sent.command = interpreter_of(*sent.script.file, sent.script.content);
  if (sent.command == std::vector<std::string>{""}) {
    return wrong_script(path +
                        " does not say what runs it: begin it with a line such as #!/usr/bin/env python3");
  }
  sent.command.push_back(std::string(objects::kScriptDirectory) + "/" + *sent.script.file);
  return sent;
}

}  // namespace gpupool::submit
