// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/log_push_format.h"
#include "ingest/hello.h"
#include "store/frame.h"
#include "tests/fuzz/property.h"

namespace push = gpupool::api::log_push;

// What launchers send to the keeper, and what the keeper reads of its own files.
void fuzz_log_push(std::string_view input) {
  if (const auto hello = gpupool::keeper::read_hello(input)) {
    gpupool::fuzz::require(gpupool::keeper::is_folder_name(hello->attempt.id.ns),
                           "a namespace is a folder's name");
    gpupool::fuzz::require(hello->attempt.id.uid.find('/') == std::string::npos, "a UID has no slash");
    gpupool::fuzz::require(hello->rank >= 0 && hello->rank < hello->attempt.ranks,
                           "a rank is one of the ranks");
  }
  std::string again;
  std::string_view rest = input;
  while (const auto chunk = push::take_chunk(rest)) push::put_chunk(again, *chunk);
  gpupool::fuzz::require(again + std::string(rest) == input, "chunks are written as they were read");
  if (const auto header = gpupool::keeper::read_frame_header(input)) {
    const auto stored = input.substr(gpupool::keeper::kFrameHeader);
    if (const auto chunks = gpupool::keeper::read_frame_chunks(*header, stored))
      gpupool::fuzz::require(chunks->size() == header->chunks, "a frame has as many bytes as it says");
  }
}
