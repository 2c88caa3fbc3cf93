// SPDX-License-Identifier: Apache-2.0
// getopt for ranks. The C library keeps the state of one scan of one command line in private
// memory, while ranks of several workers scan side by side. So a rank's first call scans its whole
// command line at once, and later calls return the stored results.
#include <bit>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <getopt.h>

#include <weft/program/globals/libc_state.hpp>
#include <weft/program/globals/original.hpp>
#include <weft/program/globals/space.hpp>

namespace weft {

struct OptionScan {
  struct Step {
    int result;
    OptionVariables after;
    int long_index;  // -1: not set.
  };
  // The arguments of the program's call.
  char* const* arguments;
  std::string options;
  const ::option* names;

  std::vector<Step> steps;  // The last one is the end: -1.
  std::size_t next;
  int index;  // optind as last seen by the program.
};

namespace {

using Original = int (*)(int, char* const*, const char*, const ::option*, int*);

struct Request {
  Original original;
  int count;
  char* const* arguments;
  const char* options;
  const ::option* names;
};

// The rank's own variable, which is the program's if linking or the compiler put it there.
template <typename T>
T& of_rank(T& shared, T& other) {
  const auto address = reinterpret_cast<std::uintptr_t>(&shared);
  if (!detail::space.program.holds(address)) return other;
  return *std::bit_cast<T*>(address + detail::space.current_delta());
}

struct Variables {
  int &index, &error, &option;
  char*& argument;
};

Variables variables_of(LibcState& state) {
  return {of_rank(::optind, state.options.optind), of_rank(::opterr, state.options.opterr),
          of_rank(::optopt, state.options.optopt), of_rank(::optarg, state.options.optarg)};
}

// Scans from `index` on, with the library's own variables, which nothing else uses meanwhile.
void scan_all(const Request& request, int index, int error, OptionScan& scan) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  ::optind = 0;  // Resets the previous scan.
  ::opterr = error;
  if (index > 1) {
    char name[] = "";
    char* const nothing[] = {name, nullptr};
    request.original(1, nothing, "", nullptr, nullptr);
    ::optind = index;
  }
  for (int result = 0; result != -1;) {
    int long_index = -1;
    result = request.original(request.count, request.arguments, request.options, request.names,
                              &long_index);
    scan.steps.push_back({result, {::optind, ::opterr, ::optopt, ::optarg}, long_index});
  }
}

int next_option(LibcState& state, const Request& request, int* long_index) {
  const Variables own = variables_of(state);
  OptionScan*& scan = state.option_scan;
  // A new command line, or a program that changed optind, starts a new scan.
  if (scan == nullptr || scan->arguments != request.arguments || scan->names != request.names ||
      scan->options != request.options || scan->index != own.index) {
    delete scan;
    scan = new OptionScan{request.arguments, request.options, request.names, {}, 0, 0};
    scan_all(request, own.index, own.error, *scan);
  }
  const OptionScan::Step& step = scan->steps[scan->next];
  if (scan->next + 1 < scan->steps.size()) ++scan->next;
  scan->index = own.index = step.after.optind;
  own.option = step.after.optopt;
  own.argument = step.after.optarg;
  if (long_index != nullptr && step.long_index >= 0) *long_index = step.long_index;
  return step.result;
}

}  // namespace

}  // namespace weft

extern "C" {

#pragma GCC visibility push(default)

int getopt(int count, char* const arguments[], const char* options) noexcept {
  WEFT_ORIGINAL(getopt);
  if (!weft::current_libc_state) return original(count, arguments, options);
  // Without long names, getopt_long behaves like getopt.
  static const auto long_form = reinterpret_cast<weft::Original>(::dlsym(RTLD_NEXT, "getopt_long"));
  return weft::next_option(*weft::current_libc_state,
                           {long_form, count, arguments, options, nullptr}, nullptr);
}

int getopt_long(int count, char* const arguments[], const char* options, const option* names,
                int* index) noexcept {
  WEFT_ORIGINAL(getopt_long);
  if (!weft::current_libc_state) return original(count, arguments, options, names, index);
  return weft::next_option(*weft::current_libc_state, {original, count, arguments, options, names},
                           index);
}

int getopt_long_only(int count, char* const arguments[], const char* options, const option* names,
                     int* index) noexcept {
  WEFT_ORIGINAL(getopt_long_only);
  if (!weft::current_libc_state) return original(count, arguments, options, names, index);
  return weft::next_option(*weft::current_libc_state, {original, count, arguments, options, names},
                           index);
}

#pragma GCC visibility pop

}  // extern "C"
