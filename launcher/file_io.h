// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/expected.h"

namespace gpupool::launcher {

// Writes all of `bytes` to `fd`, blocking. False leaves errno set.
bool write_all(int fd, std::string_view bytes);

// Reads a whole file of at most `limit` bytes; longer files are cut. Nothing when it cannot be read (errno is
// set).
std::optional<std::string> read_file(const std::string& path, std::size_t limit);

enum class Durable { kNo, kYes };  // whether it survives a power loss, which costs two syncs

// Puts a file with `bytes`, readable for every user whatever the umask, in place of what has the name `path`:
// nobody reads a part of it, and no link is followed. Uses the name `path`.new meanwhile.
Expected<void> replace_file(const std::string& path, std::string_view bytes, Durable durable);

// Makes names created or renamed in directory `path` survive a power loss.
Expected<void> sync_directory(const std::string& path);

}  // namespace gpupool::launcher
