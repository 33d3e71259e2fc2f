// SPDX-License-Identifier: Apache-2.0
#include "git/git_request_body.h"

#include "git/pkt_line.h"

namespace gpupool::carry {

std::string fetch_body(const std::string& commit) {
  std::string body = pkt_line("command=fetch\n") + pkt_line("agent=gpupool-carry\n") + "0001";
  for (const auto& argument : {std::string("no-progress"), std::string("ofs-delta"), std::string("deepen 1"),
                               "want " + commit, std::string("done")})
    body += pkt_line(argument + "\n");
  return body + "0000";
}

}  // namespace gpupool::carry
