// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// The files of one rank, in the folder of its attempt:
//   RANK.log          frames (frame.h)
//   RANK.POSITION.raw chunks that are not in a frame yet, from this position on
//   RANK.end          JSON, how it ended; nothing is added to the others then
namespace gpupool::keeper {

std::string log_file(const std::string& folder, std::int64_t rank);
std::string raw_file(const std::string& folder, std::int64_t rank, std::uint64_t position);
std::string end_file(const std::string& folder, std::int64_t rank);

// The positions of the raw files of a rank, ascending.
std::vector<std::uint64_t> raw_positions(const std::string& folder, std::int64_t rank);

// kIo, with the path and errno's text.
tl::unexpected<base::Error> file_error(const std::string& path);

// Up to `size` bytes from `offset` on; fewer at the end of the file.
base::Result<std::string> read_at(const base::UniqueFd& file, std::uint64_t offset, std::size_t size);

// Puts a file in place of another one, or of none: at any moment one of the two is there.
base::Result<void> replace_file(const std::string& path, const std::string& text);

}  // namespace gpupool::keeper
