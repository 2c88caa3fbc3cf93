// SPDX-License-Identifier: Apache-2.0
// What a rank asks of `weft run` while the job runs, and what it hears. A request begins with its
// kind; an answer with a verdict, and what was asked for or a text that says why not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/business_cards.hpp>

namespace weft::launch {

enum class Request : std::uint8_t {
  start = 1,   // StartRequest -> Meeting with the first of them
  acquaint,    // numbers: ranks -> Acquaintance of each
  connected,   // numbers: the first ranks of all worlds that the asking rank is connected to
  finalize,    // Answered when all ranks that are connected have asked for it, or are gone.
  open_port,   // -> text: its name
  close_port,  // text: port
  accept,      // text: port -> Meeting
  connect,     // text: port -> Meeting
  publish,     // text: service; text: port
  unpublish,   // text: service
  look_up,     // text: service -> text: port
};

enum class Verdict : std::uint8_t {
  granted,
  not_started,       // The processes cannot be started.
  no_port,           // There is no such port.
  no_name,           // Nobody has published it.
  service_is_taken,  // Somebody else has.
  not_understood,
};

// Processes that are to start together; ranks are given in the order of the commands.
struct StartCommand {
  std::vector<std::string> words;  // Program and arguments.
  std::uint32_t count = 1;
  std::string folder;
  std::string host;  // Empty: any.
  std::string path;  // Folders where the program is looked for first, with colons between them.
};
struct StartRequest {
  std::vector<StartCommand> commands;
};
std::string to_bytes(const StartRequest& request);
Result<StartRequest> parse_start_request(FieldReader& in);

// Two ranks that begin to talk to each other, and a number that only they have.
struct Meeting {
  std::uint32_t rank = 0;   // The other one.
  std::uint32_t count = 0;  // Of what was started: how many there are.
  std::uint32_t number = 0;
};
void write(FieldWriter& out, const Meeting& meeting);
Meeting read_meeting(FieldReader& in);

// A rank that did not start together with the one that asks.
struct Acquaintance {
  std::uint32_t rank = 0;
  std::uint32_t world = 0;  // The first of those that did start together with it.
  bool gone = false;        // It has ended, or left.
  std::string place, address;
};
void write(FieldWriter& out, const Acquaintance& acquaintance);
Acquaintance read_acquaintance(FieldReader& in);

// Requests and answers travel in parts, as cards do: CardPart::round is the request's number.
class Mail {
 public:
  // The whole text once its last part has come. Nonsense is dropped.
  std::optional<std::string> add(const CardPart& part);

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> open_;
};

}  // namespace weft::launch
