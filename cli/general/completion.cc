// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "general/complete.h"

namespace gpupool::general {
namespace {

// For kubectl itself: it calls kubectl_complete-gpupool. These are for the program under its own name,
// kubectl-gpupool.
constexpr char kBash[] = R"(# bash completion of kubectl-gpupool: source <(kubectl-gpupool completion bash)
_kubectl_gpupool() {
  local line lines
  COMPREPLY=()
  mapfile -t lines < <(kubectl-gpupool __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [ ${#lines[@]} -gt 0 ] || return
  if [ "${lines[-1]}" = ":0" ]; then
    compopt -o default
    return
  fi
  unset 'lines[-1]'
  for line in "${lines[@]}"; do COMPREPLY+=("${line%%$'\t'*}"); done
}
complete -F _kubectl_gpupool kubectl-gpupool
)";

constexpr char kZsh[] = R"(#compdef kubectl-gpupool
# zsh completion of kubectl-gpupool: source <(kubectl-gpupool completion zsh)
_kubectl_gpupool() {
  local -a lines names
  lines=("${(@f)$(kubectl-gpupool __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ ${lines[-1]} == ":0" ]]; then
    _files
    return
  fi
  lines[-1]=()
  names=("${(@)lines%%$'\t'*}")
  compadd -a names
}
compdef _kubectl_gpupool kubectl-gpupool
)";

constexpr char kFish[] = R"(# fish completion of kubectl-gpupool: kubectl-gpupool completion fish | source
function __kubectl_gpupool
  set -l words (commandline -opc) (commandline -ct)
  kubectl-gpupool __complete $words[2..-1] 2>/dev/null | string match -v -r '^:[0-9]$'
end
complete -c kubectl-gpupool -f -a '(__kubectl_gpupool)'
)";

class Completion final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "completion",
        .summary = "Print the completion script for a shell",
        .text =
            "For `kubectl gpupool` (kubectl 1.26 or newer) no script is needed: kubectl asks the program\n"
            "kubectl_complete-gpupool in the PATH, which is a link to this one. The script is for the "
            "program under its\n"
            "own name, kubectl-gpupool.",
        .example =
            "  ln -s \"$(command -v kubectl-gpupool)\" ~/.local/bin/kubectl_complete-gpupool\n"
            "  source <(kubectl gpupool completion bash)"};
  }

  void add_flags(command::Flags& flags) override {
    flags.word_argument("SHELL", shell_, {"bash", "zsh", "fish"}, "Which shell");
  }

  base::Result<int> run(command::Context& context) override {
    context.out << (shell_ == "bash" ? kBash : shell_ == "zsh" ? kZsh : kFish);
    return command::exit_code::kGood;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<command::Command> make_completion() { return std::make_unique<Completion>(); }

}  // namespace gpupool::general
