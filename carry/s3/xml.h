// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gpupool::carry::s3 {

// Called at the end of each element. path: "ListBucketResult/Contents/Key". text: what is directly in it.
using ElementReader = std::function<void(std::string_view path, std::string_view text)>;

// Reads a whole document. Returns false if it is malformed, has a DTD, or is nested more than 32 deep; some
// elements may have been passed on then. Pure but for `reader`.
bool read_xml(std::string_view document, const ElementReader& reader);

// The text of the first element with this path; empty if there is none.
std::string xml_text(std::string_view document, std::string_view path);

// `text` with entities for what XML reserves.
std::string xml_escaped(std::string_view text);

}  // namespace gpupool::carry::s3
