// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "failure/failure.h"

namespace gpupool::carry {

// The value of a key of a Secret that is mounted as files, without line breaks at its end; nullopt if the
// Secret has no such key. kInvalid, naming the key and never the value, if the value is too long (1 MiB),
// kLocal if it cannot be read.
Outcome<std::optional<std::string>> secret_value(const std::string& directory, const std::string& key);

// The same for a value that goes into a header: kInvalid as well if it is empty or has a control character.
Outcome<std::optional<std::string>> secret_line(const std::string& directory, const std::string& key);

// What these two make of a value that was read elsewhere: the value without line breaks at its end; and
// kInvalid, naming the key, if it cannot go into a header. Pure.
std::string without_line_ends(std::string value);
Outcome<void> check_secret_line(const std::string& key, const std::string& value);

}  // namespace gpupool::carry
