// SPDX-License-Identifier: Apache-2.0
// A test program for launchers: takes its seat and does what its arguments say, in order. Usage:
// launch_probe LIBRARY_FOLDER WORD...
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/real/launch/seat.hpp>

namespace {

using weft::launch::Notice;
using weft::launch::Seat;

void say(const std::string& text) {
  std::cout << text << std::endl;
}

[[noreturn]] void fail(const std::string& text) {
  std::cerr << "launch_probe: " << text << std::endl;
  ::_exit(99);
}

// "x@3": only rank 3 does x.
bool for_me(std::string& word, const Seat* seat) {
  const std::size_t at = word.rfind('@');
  if (at == std::string::npos) return true;
  const std::string whose = word.substr(at + 1);
  word.resize(at);
  return seat != nullptr && std::to_string(seat->self()) == whose;
}

// A card with arbitrary bytes and a different size for every rank.
std::string card_of(std::uint32_t rank, std::size_t size) {
  std::string card = "card " + std::to_string(rank);
  for (std::size_t i = 0; i < size + rank; ++i) card += static_cast<char>((i * 7 + rank) % 256);
  return card;
}

void exchange(Seat& seat, std::size_t size) {
  const auto cards = seat.exchange(card_of(seat.self(), size));
  if (!cards) fail("exchange: " + cards.error().text());
  if (cards->size() != seat.ranks()) fail("exchange: a wrong number of cards");
  for (std::uint32_t rank = 0; rank < seat.ranks(); ++rank)
    if ((*cards)[rank] != card_of(rank, size)) fail("exchange: a wrong card");
}

// Checks that all ranks have the same secret and that it is not empty.
void compare_secrets(Seat& seat) {
  std::string own(reinterpret_cast<const char*>(seat.secret().data()), seat.secret().size());
  const auto all = seat.exchange(own);
  if (!all) fail("exchange: " + all.error().text());
  for (const std::string& each : *all)
    if (each != own) fail("secrets differ");
  if (own == std::string(own.size(), '\0')) fail("the secret is empty");
}

void await_notice(Seat& seat) {
  for (Notice notice;;) {
    if (seat.next_notice(notice)) {
      const bool lost = notice.kind == Notice::Kind::lost;
      say(lost ? "lost " + std::to_string(notice.rank) : "end");
      return;
    }
    pollfd readable = {seat.descriptor(), POLLIN, 0};
    ::poll(&readable, 1, 30'000);
  }
}

void copy_input() {
  for (std::string line; std::getline(std::cin, line);) say("read " + line);
  say("read all");
}

volatile std::sig_atomic_t caught = 0;

void do_signals(const std::string& what) {
  if (what == "ignore") {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  } else if (what == "catch") {
    for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2})
      std::signal(number, [](int number_caught) { caught = number_caught; });
  } else {
    while (caught == 0) ::poll(nullptr, 0, 20);
    say("caught " + std::to_string(caught));
    caught = 0;
  }
}

void hang() {
  for (;;) ::poll(nullptr, 0, 1000);
}

// Starts a child that would outlive the rank.
void spawn() {
  if (::fork() == 0) {
    ::setsid();
    hang();
  }
}

void act(const std::string& word, Seat* seat) {
  const std::string name = word.substr(0, word.find('='));
  const std::string value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
  const int number = static_cast<int>(weft::parse_int(value.empty() ? "0" : value).value());
  if (name == "exit") ::_exit(number);
  if (name == "exit-late") ::poll(nullptr, 0, 300), ::_exit(number);
  if (name == "die" || name == "raise") ::raise(number);
  if (name == "hang") hang();
  if (name == "nap") ::poll(nullptr, 0, number);
  if (name == "spawn") spawn();
  if (name == "stdin") copy_input();
  if (name == "signals") do_signals(number == 0 ? "catch" : number == 1 ? "ignore" : "await");
  if (name == "lines")
    for (int i = 0; i < number; ++i) say("line " + std::to_string(i) + " of a rank, whole");
  if (name == "environment")
    for (char** entry = environ; *entry != nullptr; ++entry) say(*entry);
  if (name == "part") std::cout << "no end of line" << std::flush;
  if (seat == nullptr) return;
  if (name == "who")
    say("rank " + std::to_string(seat->self()) + " of " + std::to_string(seat->ranks()));
  if (name == "settings") say(to_text(seat->settings()));
  if (name == "exchange") exchange(*seat, static_cast<std::size_t>(number));
  if (name == "secret") compare_secrets(*seat);
  if (name == "notice") await_notice(*seat);
  if (name == "leave") seat->leave();
  if (name == "abort") seat->abort(number, "told to abort");
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) fail("usage: launch_probe LIBRARY_FOLDER WORD...");
  std::unique_ptr<Seat> seat;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string word = words[i];
    if (word == "sit") {
      auto taken = weft::launch::take_seat(words[0]);
      if (!taken) fail(taken.error().text());
      seat = *std::move(taken);
      if (seat == nullptr) fail("no seat was kept");
    } else if (for_me(word, seat.get())) {
      act(word, seat.get());
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_probe: %s\n", error.what());
    return 98;
  }
}
