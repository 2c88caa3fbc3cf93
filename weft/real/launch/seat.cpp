// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/seat.hpp"

#include <utility>

#include <weft/real/launch/environment.hpp>
#include <weft/real/launch/own_seat.hpp>
#include <weft/real/launch/pmi_store.hpp>
#include <weft/real/launch/pmix_store.hpp>
#include <weft/real/launch/seat_protocol.hpp>
#include <weft/real/launch/store_seat.hpp>

namespace weft::launch {
namespace {

enum class By { nobody, weft, pmix, pmi };

// If a launcher runs inside another's job, the inner one comes first: it knows more about us.
By kept_by() {
  if (variable(seat_variable)) return By::weft;
  if (variable("PMIX_RANK") && variable("PMIX_NAMESPACE")) return By::pmix;
  if (variable("PMI_FD") && variable("PMI_RANK") && variable("PMI_SIZE")) return By::pmi;
  return By::nobody;
}

Result<std::unique_ptr<Seat>> take_pmi_seat() {
  const auto start = find_pmi();
  if (!start) return Error(start.error());
  auto store = open_pmi_store(*start);
  if (!store) return std::move(store).error();
  return take_store_seat(*std::move(store));
}

Result<std::unique_ptr<Seat>> take_pmix_seat(const std::string& library_folder) {
  auto store = open_pmix_store(library_folder);
  if (!store) return std::move(store).error();
  return take_store_seat(*std::move(store));
}

}  // namespace

bool seat_kept() {
  return kept_by() != By::nobody;
}

Result<std::unique_ptr<Seat>> take_seat(const std::string& library_folder) {
  switch (kept_by()) {
    case By::weft:
      return take_own_seat();
    case By::pmix:
      return take_pmix_seat(library_folder);
    case By::pmi:
      return take_pmi_seat();
    case By::nobody:
      break;
  }
  return std::unique_ptr<Seat>();
}

}  // namespace weft::launch
