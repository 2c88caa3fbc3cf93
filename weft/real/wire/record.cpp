// SPDX-License-Identifier: Apache-2.0
#include <weft/real/wire/record.hpp>

namespace weft::wire {

const char* fault_of(const Record& record, std::size_t largest_frame) {
  constexpr std::uint64_t largest_write = std::uint64_t{1} << 48;
  constexpr std::uint64_t largest_keys = 4096;
  constexpr std::uint64_t largest_address = 512;
  if (record.magic != Record::sign) return "it does not begin like one";
  if (record.goes_on > (record.kind == RecordKind::write ? 1 : 0)) return "it cannot go on";
  switch (record.kind) {
    case RecordKind::frame:
      return record.size > largest_frame ? "a frame larger than any" : nullptr;
    case RecordKind::write:
      return record.size > largest_write || record.offset > largest_write
                 ? "a write larger than any memory"
                 : nullptr;
    case RecordKind::more:
      return "the rest of nothing";
    case RecordKind::keys:
      return record.size > largest_keys || record.offset > largest_write ? "more keys than any"
                                                                         : nullptr;
    case RecordKind::renewed:
      return record.size > largest_address ? "an address longer than any" : nullptr;
    case RecordKind::landed:
      if (record.offset > largest_write) return "a write larger than any memory";
      return record.size != 0 ? "data where none belongs" : nullptr;
    case RecordKind::rail_dead:
    case RecordKind::goodbye:
    case RecordKind::parting:
    case RecordKind::ask:
    case RecordKind::answer:
      return record.size != 0 ? "data where none belongs" : nullptr;
  }
  return "its kind is unknown";
}

}  // namespace weft::wire
