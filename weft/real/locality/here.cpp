// SPDX-License-Identifier: Apache-2.0
// The locality of one process, as text.
#include <fmt/format.h>

#include <weft/base/check.hpp>
#include <weft/base/text.hpp>
#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/places.hpp>

namespace weft::locality {
namespace {

Error broken(std::string_view record) {
  return Error::input("'" + std::string(record) + "' does not describe the locality of a process");
}

Result<int> parse_node(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < -1 || *number > 65'535) return broken(text);
  return static_cast<int>(*number);
}

Status read_place(std::string_view record, ProcessPlace& here) {
  const std::vector<std::string_view> words = split(record, ' ');
  if (words.size() != 4) return broken(record);
  const auto binding = parse_binding(words[1]);
  const auto node = parse_node(words[2]);
  auto cpus = parse_list(words[3]);
  if (!binding || !node || !cpus) return broken(record);
  here.binding = *binding;
  here.place = {*node, *std::move(cpus)};
  return {};
}

Status read_rail(std::string_view record, ProcessPlace& here) {
  const std::vector<std::string_view> words = split(record, ' ');
  if (words.size() != 5) return broken(record);
  auto nodes = parse_list(words[2]);
  const auto buffers = parse_node(words[3]);
  const auto speed = parse_int(words[4]);
  if (!nodes || !buffers || !speed || *speed < 0) return broken(record);
  here.rails.push_back(
      {std::string(words[1]), *std::move(nodes), *buffers, Rate::bit_per_s(*speed)});
  return {};
}

}  // namespace

ProcessPlace process_place(const HostLayout& layout, const HostPlaces& places, int local_rank) {
  const auto rank = static_cast<std::size_t>(local_rank);
  WEFT_CHECK(local_rank >= 0 && rank < places.ranks.size());
  ProcessPlace here{places.binding, places.ranks[rank], places.rails, layout};
  for (NumaNode& node : here.layout.nodes) node.cores.clear();
  return here;
}

std::string to_text(const ProcessPlace& here) {
  std::string text = fmt::format("place {} {} {}", to_text(here.binding), here.place.node,
                                 list_to_text(here.place.cpus));
  for (const RailSite& rail : here.rails)
    text += fmt::format(";rail {} {} {} {}", rail.name, list_to_text(rail.nodes), rail.buffers,
                        rail.speed.in_bit_per_s());
  return text + ";" + to_text(here.layout);
}

Result<ProcessPlace> parse_process_place(const std::string& text) {
  ProcessPlace here;
  std::string rest;  // Describes the machine.
  bool placed = false;
  for (const std::string_view record : split(text, ';')) {
    const bool place = record.starts_with("place "), rail = record.starts_with("rail ");
    const Status read = place  ? read_place(record, here)
                        : rail ? read_rail(record, here)
                               : Status{};
    if (!read) return read.error();
    placed = placed || place;
    if (place || rail) continue;
    if (!rest.empty()) rest += ';';
    rest += record;
  }
  if (!placed) return broken(text);
  auto layout = parse_host_layout(rest);
  if (!layout) return std::move(layout).error();
  here.layout = *std::move(layout);
  return here;
}

}  // namespace weft::locality
