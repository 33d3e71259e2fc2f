// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::kube {

// Picks members of one object of a document while its text arrives: of {"definitions": {"a": ..., "b": ...}}
// the values of a and b. Only the value that is being picked is in memory. Checks brackets and strings; a
// value is checked by whoever decodes it. Not thread-safe.
class MemberSplitter {
 public:
  using Wants = std::function<bool(const std::string& name)>;
  using OnMember = std::function<void(const std::string& name, std::string_view value)>;

  // object: name of a member of the document. wants: tells whether a member of that object is picked.
  MemberSplitter(std::string object, Wants wants, std::size_t max_value_bytes = std::size_t{1} << 20)
      : object_(std::move(object)), wants_(std::move(wants)), max_(max_value_bytes) {}

  // Calls on_member with each picked member; the value is JSON text and valid during the call. kParse, now
  // and in every later call, if the text is no JSON object or a picked value is too long.
  base::Result<void> feed(std::string_view piece, const OnMember& on_member);
  // Call after the last piece. kParse if the end is missing.
  base::Result<void> finish();

 private:
  void step(char c, const OnMember& on_member);
  void open(char closer);
  void close(char c);
  void fail(const char* problem);

  std::string object_;
  Wants wants_;
  std::size_t max_;
  std::string closers_;  // the closing brackets that are still expected
  bool begun_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  bool inside_ = false;   // the second bracket is the object's
  bool picking_ = false;  // the value of `name_` is being picked
  std::string string_;    // the last string in the document itself or in the object, without its quotes
  std::string name_;      // the last name of a member there
  std::string value_;
  std::string problem_;
};

}  // namespace gpupool::kube
