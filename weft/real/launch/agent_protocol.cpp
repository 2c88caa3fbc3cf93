// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/agent_protocol.hpp"

#include <cstring>
#include <limits>

#include <weft/real/launch/frame.hpp>

namespace weft::launch {

void write(FieldWriter& out, const Birth& birth) {
  out.number(birth.first);
  out.number(birth.application);
  out.number(birth.universe);
  out.byte(birth.spans_hosts ? 1 : 0);
  out.byte(birth.has_parent ? 1 : 0);
  out.number(birth.parent);
  out.number(birth.meeting);
}

Birth read_birth(FieldReader& in) {
  constexpr std::uint32_t any_number = std::numeric_limits<std::uint32_t>::max();
  Birth birth;
  birth.first = in.number_up_to(any_number);
  birth.application = in.number_up_to(any_number);
  birth.universe = in.number_up_to(any_number);
  birth.spans_hosts = in.byte() != 0;
  birth.has_parent = in.byte() != 0;
  birth.parent = in.number_up_to(any_number);
  birth.meeting = in.number_up_to(any_number);
  return birth;
}

std::string to_bytes(const HostJob& job) {
  FieldWriter out;
  out.number(job.ranks);
  write(out, job.birth);
  out.number(job.start);
  out.number(job.here.size());
  for (const std::uint32_t rank : job.here) out.number(rank);
  out.texts(job.words);
  out.texts(job.environment);
  out.text(job.folder);
  out.text(job.path);
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
  job.birth = read_birth(in);
  job.start = in.number_up_to(ranks_max);
  const std::uint32_t here = in.number_up_to(ranks_max);
  bool sound = here > 0 && job.ranks > 0;
  for (std::uint32_t i = 0; i < here && !in.broken(); ++i) {
    job.here.push_back(in.number_up_to(ranks_max));
    // Ascending order, so that no rank appears twice.
    sound = sound && job.has(job.here[i]) && (i == 0 || job.here[i] > job.here[i - 1]);
  }
  job.words = in.texts();
  job.environment = in.texts();
  job.folder = in.text();
  job.path = in.text();
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
