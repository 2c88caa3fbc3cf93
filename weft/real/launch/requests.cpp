// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/requests.hpp"

#include <limits>

namespace weft::launch {
namespace {

constexpr std::uint32_t any_number = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t commands_max = 1u << 16;

}  // namespace

std::string to_bytes(const StartRequest& request) {
  FieldWriter out;
  out.number(request.commands.size());
  for (const StartCommand& command : request.commands) {
    out.texts(command.words);
    out.number(command.count);
    out.text(command.folder);
    out.text(command.host);
    out.text(command.path);
  }
  return out.take();
}

Result<StartRequest> parse_start_request(FieldReader& in) {
  StartRequest request;
  const std::uint32_t count = in.number_up_to(commands_max);
  bool sound = count > 0;
  for (std::uint32_t i = 0; i < count && !in.broken(); ++i) {
    StartCommand& command = request.commands.emplace_back();
    command.words = in.texts();
    command.count = in.number_up_to(any_number);
    command.folder = in.text();
    command.host = in.text();
    command.path = in.text();
    sound = sound && !command.words.empty();
  }
  if (!in.whole() || !sound) return Error(Broken::peer, "a request to start processes is broken");
  return request;
}

void write(FieldWriter& out, const Meeting& meeting) {
  out.number(meeting.rank);
  out.number(meeting.count);
  out.number(meeting.number);
}

Meeting read_meeting(FieldReader& in) {
  Meeting meeting;
  meeting.rank = in.number_up_to(any_number);
  meeting.count = in.number_up_to(any_number);
  meeting.number = in.number_up_to(any_number);
  return meeting;
}

void write(FieldWriter& out, const Acquaintance& acquaintance) {
  out.number(acquaintance.rank);
  out.number(acquaintance.world);
  out.byte(acquaintance.gone ? 1 : 0);
  out.text(acquaintance.place);
  out.text(acquaintance.address);
}

Acquaintance read_acquaintance(FieldReader& in) {
  Acquaintance acquaintance;
  acquaintance.rank = in.number_up_to(any_number);
  acquaintance.world = in.number_up_to(any_number);
  acquaintance.gone = in.byte() != 0;
  acquaintance.place = in.text();
  acquaintance.address = in.text();
  return acquaintance;
}

std::optional<std::string> Mail::add(const CardPart& part) {
  const std::pair key(part.rank, part.round);
  std::string& text = open_[key];
  const bool fits = part.offset == text.size() && part.total <= card_size_max &&
                    part.offset <= part.total && part.bytes.size() <= part.total - part.offset;
  if (fits) text += part.bytes;
  if (fits && text.size() < part.total) return std::nullopt;
  std::string whole = std::move(text);
  open_.erase(key);
  return fits ? std::optional(std::move(whole)) : std::nullopt;
}

}  // namespace weft::launch
