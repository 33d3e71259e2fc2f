// SPDX-License-Identifier: Apache-2.0
#include "git/git_error.h"

#include <git2.h>

#include <algorithm>

namespace gpupool::carry {

std::string shown_of_server(std::string_view text) {
  constexpr std::size_t kMost = 200;
  std::string shown;
  shown.reserve(std::min(text.size(), kMost));
  for (const char c : text) {
    if (shown.size() == kMost) break;
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) shown += c;
  }
  return shown;
}

tl::unexpected<Failure> git_failure(FailureKind kind, const std::string& what) {
  const git_error* const last = git_error_last();
  if (last == nullptr) return failed(kind, what);
  const std::string why = shown_of_server(last->message == nullptr ? "" : last->message);
  if (last->klass == GIT_ERROR_OS) {
    const bool full =
        why.find("No space left") != std::string::npos || why.find("quota") != std::string::npos;
    kind = full ? FailureKind::kTooLarge : FailureKind::kLocal;
  }
  if (last->klass == GIT_ERROR_NOMEMORY) kind = FailureKind::kLocal;
  return failed(kind, what + ": " + why);
}

}  // namespace gpupool::carry
