// SPDX-License-Identifier: Apache-2.0
#include "base/key_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/read_file.h"

namespace gpupool::base {
namespace {

constexpr std::size_t kLongestKeyId = 63;

bool is_key_id(std::string_view name) {
  return name.size() <= kLongestKeyId && !name.starts_with('.') && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

}  // namespace

Result<std::map<std::string, std::string>> read_keys(const std::string& folder) {
  std::map<std::string, std::string> keys;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::error_code unreadable;
    if (!is_key_id(name) || !entry->is_regular_file(unreadable)) continue;
    auto key = read_file(entry->path());
    if (!key) return tl::unexpected<Error>(key.error());
    if (key->size() < kLeastKeyBytes)
      return fail(ErrorCode::kInvalidArgument, entry->path().string() + ": a key has at least 32 bytes");
    keys.emplace(name, std::move(*key));
  }
  if (error) return fail(ErrorCode::kIo, folder + ": " + error.message());
  if (keys.empty()) return fail(ErrorCode::kInvalidArgument, folder + ": there is no key in it");
  return keys;
}

}  // namespace gpupool::base
