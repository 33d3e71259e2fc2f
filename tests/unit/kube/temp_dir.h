// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::test {

// A new directory that is removed with this object.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& root() const { return path_; }
  // Returns the path of the file.
  std::string write(const std::string& name, const std::string& text) const;
  std::string script(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

// Sets an environment variable until it is destroyed; null unsets it.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const char* value);
  ~ScopedEnv();
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  std::string name_;
  std::string before_;
  bool was_set_;
};

}  // namespace gpupool::test
