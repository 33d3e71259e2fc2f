// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "failure/failure.h"
#include "files/size_budget.h"

namespace gpupool::carry {

// A tree has at most so many files, links and directories.
inline constexpr std::int64_t kMaxTreeEntries = 1'000'000;

// One file of a NewTree, which must outlive it. Not thread-safe.
class NewFile {
 public:
  // offset: not below size(); what is between is a hole, which reads as zeros and counts like other bytes.
  // Takes the bytes from the budget before they are written.
  Outcome<void> write(std::int64_t offset, std::string_view bytes);
  Outcome<void> extend(std::int64_t size);
  std::int64_t size() const { return size_; }
  // The file gets kProgramMode or kFileMode. Without this call it has a mode that only its owner can use.
  Outcome<void> finish(bool program);

 private:
  friend class NewTree;
  NewFile(base::UniqueFd fd, std::string name, SizeBudget& budget, std::int64_t& taken)
      : fd_(std::move(fd)), name_(std::move(name)), budget_(&budget), taken_(&taken) {}

  base::UniqueFd fd_;
  std::string name_;
  SizeBudget* budget_;
  std::int64_t* taken_;
  std::int64_t size_ = 0;
};

// What a hard link has given its name to.
struct HardLinked {
  base::UniqueFd file;  // to read; none: it is a symbolic link
  bool program = false;
  std::string target;  // of the symbolic link
};

// A directory with all that is in it, which is there whole or not at all: it is built beside its place and
// renamed at the end. Nothing outside of it is ever reached: no entry goes through a symbolic link, and a
// symbolic link whose target is not in the tree is refused. Modes are those of files/directories.h. All bytes
// count against the budget. All paths are as split_path wants them. kInvalid: a bad path or link;
// kTooLarge: the budget, or kMaxTreeEntries. Not thread-safe.
class NewTree {
 public:
  // path: of the directory, below `root`. What a process that was killed has left is removed first. `budget`
  // must outlive the tree.
  static Outcome<NewTree> begin(int root, std::string_view path, SizeBudget& budget);
  // Without commit() all is removed, and its bytes are given back.
  ~NewTree();
  NewTree(NewTree&&) noexcept;
  NewTree& operator=(NewTree&&) = delete;

  // Directories above a path are made. A later file or link takes the place of an earlier one. A directory
  // takes the place of a file or link, but nothing takes the place of a directory (kInvalid).
  Outcome<void> add_directory(std::string_view path);
  Outcome<NewFile> add_file(std::string_view path);
  Outcome<void> add_link(std::string_view path, const std::string& target);
  // earlier: path of a file or symbolic link in this tree.
  Outcome<HardLinked> add_hard_link(std::string_view path, std::string_view earlier);

  // kTooLarge if the budget has fewer bytes left. Takes nothing.
  Outcome<void> fits(std::int64_t bytes) const;
  std::int64_t bytes() const { return state_->taken; }  // of all files that are there now
  // A directory that stands in the tree's place is replaced; a file there is kInvalid.
  Outcome<void> commit();

 private:
  // On the heap: files point to it.
  struct State {
    explicit State(SizeBudget& of_all) : budget(&of_all) {}
    SizeBudget* budget;
    std::int64_t taken = 0;
    base::UniqueFd above;  // the directory that the tree will be in
    std::string name;
    std::string part;
    base::UniqueFd top;
    std::int64_t entries = 0;
    base::UniqueFd parent;  // of the last entry
    std::string parent_path;
    std::vector<std::string> winding;  // paths of links to check at the end
    bool done = false;
  };
  explicit NewTree(std::unique_ptr<State> state) : state_(std::move(state)) {}

  Outcome<void> count();
  Outcome<std::string> place(std::string_view path);
  Outcome<void> make_room(const std::string& name);
  Outcome<void> check_winding();

  std::unique_ptr<State> state_;
};

}  // namespace gpupool::carry
