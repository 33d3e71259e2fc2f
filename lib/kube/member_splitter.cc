// SPDX-License-Identifier: Apache-2.0
#include "kube/member_splitter.h"

#include <utility>

namespace gpupool::kube {
namespace {

// Numbers of open brackets in the document itself, and in the object.
constexpr std::size_t kDepthOfDocument = 1;
constexpr std::size_t kDepthOfObject = 2;
constexpr std::size_t kMaxName = 1024;

}  // namespace

base::Result<void> MemberSplitter::feed(std::string_view piece, const OnMember& on_member) {
  for (const char c : piece) {
    if (!problem_.empty()) break;
    step(c, on_member);
  }
  if (problem_.empty()) return {};
  return base::fail(base::ErrorCode::kParse, problem_);
}

base::Result<void> MemberSplitter::finish() {
  if (!begun_ || !closers_.empty()) fail("the document is cut short");
  if (problem_.empty()) return {};
  return base::fail(base::ErrorCode::kParse, problem_);
}

void MemberSplitter::step(char c, const OnMember& on_member) {
  const auto depth = closers_.size();
  const bool in_object = depth == kDepthOfObject && inside_;
  const bool names = depth == kDepthOfDocument || in_object;
  if (picking_ && in_object && !in_string_ && (c == ',' || c == '}')) {
    picking_ = false;
    on_member(name_, value_);
    value_.clear();
  }
  if (picking_) {
    if (value_.size() == max_) return fail("a value of the document is too long");
    value_ += c;
  }
  if (in_string_) {
    if (std::exchange(escaped_, !escaped_ && c == '\\') || c != '"') {
      if (names && string_.size() < kMaxName) string_ += c;
    } else {
      in_string_ = false;
    }
    return;
  }
  if (c == '"') {
    in_string_ = true;
    if (names) string_.clear();
  } else if (c == ':' && names) {
    name_ = string_;
    picking_ = in_object && wants_(name_);
  } else if (c == '{') {
    open('}');
  } else if (c == '[') {
    open(']');
  } else if (c == '}' || c == ']') {
    close(c);
  }
}

void MemberSplitter::open(char closer) {
  if (closers_.empty() && (std::exchange(begun_, true) || closer != '}'))
    return fail("this is no JSON object");
  if (closers_.size() == kDepthOfDocument) inside_ = closer == '}' && name_ == object_;
  closers_ += closer;
}

void MemberSplitter::close(char c) {
  if (closers_.empty() || closers_.back() != c) return fail("a bracket is closed that is not open");
  closers_.pop_back();
}

void MemberSplitter::fail(const char* problem) {
  if (problem_.empty()) problem_ = problem;
}

}  // namespace gpupool::kube
