// SPDX-License-Identifier: Apache-2.0
#include "results/saved_files.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "files/relative_path.h"

template <>
struct gpupool::base::json::Schema<gpupool::results::SavedFile> {
  using T = results::SavedFile;
  static constexpr auto fields =
      std::array{field<&T::path>("path"), field<&T::bytes>("bytes"), field<&T::sha256>("sha256")};
};
template <>
struct gpupool::base::json::Schema<gpupool::results::SavedFiles> {
  using T = results::SavedFiles;
  static constexpr auto fields =
      std::array{field<&T::complete>("complete"), field<&T::job>("job"),   field<&T::ns>("namespace"),
                 field<&T::attempt>("attempt"),   field<&T::rank>("rank"), field<&T::files>("files")};
};

namespace gpupool::results {

carry::Outcome<SavedFiles> parse_saved_files(std::string_view text) {
  static constexpr std::size_t kDigits = 64;
  auto saved = base::json::read<SavedFiles>(text);
  const auto bad = [](const std::string& why) {
    return carry::failed(carry::FailureKind::kInvalid, "manifest.json is not one of gpupool: " + why);
  };
  if (!saved) return bad(saved.error().message);
  if (!saved->complete) return bad("it does not say that all is there");
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (const auto& file : saved->files) {
    if (auto path = carry::split_path(file.path); !path) return bad("a path in it: " + path.error().message);
    if (file.bytes < 0 || file.sha256.size() != kDigits ||
        !std::all_of(file.sha256.begin(), file.sha256.end(), is_hex))
      return bad("it lacks the size or SHA-256 of " + file.path);
  }
  return *std::move(saved);
}

}  // namespace gpupool::results
