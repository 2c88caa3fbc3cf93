// SPDX-License-Identifier: Apache-2.0
// A value, or an error that says why there is none. Member names are those of std::expected, which
// GCC 12 lacks under C++20.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <weft/base/check.hpp>

namespace weft {

// What failed, so that the caller knows what to repair.
enum class Broken {
  call,   // The arguments: exit code 2.
  input,  // A file or a description: exit code 3.
  run,    // The work itself ended early (deadlock, interrupted, disk full): exit code 1.
  peer,   // Another process.
};

class [[nodiscard]] Error {
 public:
  Error(Broken broken, std::string message) : broken_(broken), message_(std::move(message)) {}
  static Error input(std::string message) { return {Broken::input, std::move(message)}; }
  static Error call(std::string message) { return {Broken::call, std::move(message)}; }
  static Error run(std::string message) { return {Broken::run, std::move(message)}; }

  // Adds the location. The innermost location wins, so an outer caller may always add its own.
  Error at(std::string file, int line) && {
    if (file_.empty()) {
      file_ = std::move(file);
      line_ = line;
    }
    return std::move(*this);
  }
  Error during(const std::string& what) && {
    message_ = what + ": " + message_;
    return std::move(*this);
  }

  Broken broken() const { return broken_; }
  const std::string& message() const { return message_; }
  const std::string& file() const { return file_; }
  int line() const { return line_; }
  // The whole message in one line: "net.toml:7: message".
  std::string text() const {
    if (file_.empty()) return message_;
    return file_ + ":" + (line_ > 0 ? std::to_string(line_) + ":" : "") + " " + message_;
  }

 private:
  Broken broken_;
  std::string message_;
  std::string file_;
  int line_ = 0;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, like the constructors of std::expected.
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& {
    WEFT_CHECK(!has_value());
    return std::get<1>(state_);
  }
  Error&& error() && {
    WEFT_CHECK(!has_value());
    return std::get<1>(std::move(state_));
  }

 private:
  T& checked() {
    WEFT_CHECK(has_value());
    return std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

// Success without a value, or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const& {
    WEFT_CHECK(!has_value());
    return *error_;
  }
  Error&& error() && {
    WEFT_CHECK(!has_value());
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace weft
