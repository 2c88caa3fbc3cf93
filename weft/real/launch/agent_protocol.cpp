// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/agent_protocol.hpp"

#include <cstring>

#include <weft/real/launch/frame.hpp>

namespace weft::launch {

std::string to_bytes(const HostJob& job) {
  FieldWriter out;
  out.number(job.ranks);
  out.number(job.here.size());
  for (const std::uint32_t rank : job.here) out.number(rank);
  out.texts(job.words);
  out.texts(job.environment);
  out.text(job.folder);
  out.text({reinterpret_cast<const char*>(job.secret.data()), job.secret.size()});
  out.text(job.settings);
  out.text(job.bind);
  out.text(job.machine);
  out.byte(job.explain ? 1 : 0);
  return out.take();
}

Result<HostJob> parse_host_job(const std::string& bytes) {
  FieldReader in(bytes);
  HostJob job;
  job.ranks = in.number_up_to(ranks_max);
  const std::uint32_t here = in.number_up_to(ranks_max);
  bool sound = here > 0 && job.ranks > 0;
  for (std::uint32_t i = 0; i < here && !in.broken(); ++i) {
    job.here.push_back(in.number_up_to(ranks_max));
    // Ascending order, so that no rank appears twice.
    sound = sound && job.here[i] < job.ranks && (i == 0 || job.here[i] > job.here[i - 1]);
  }
  job.words = in.texts();
  job.environment = in.texts();
  job.folder = in.text();
  const std::string secret = in.text();
  job.settings = in.text();
  job.bind = in.text();
  job.machine = in.text();
  job.explain = in.byte() != 0;
  if (!in.whole() || !sound || secret.size() != job.secret.size())
    return Error(Broken::peer, "the job's description is broken");
  std::memcpy(job.secret.data(), secret.data(), secret.size());
  return job;
}

}  // namespace weft::launch
