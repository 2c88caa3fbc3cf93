// SPDX-License-Identifier: Apache-2.0
// The keeper of a file: rank 0 answers, whenever it is inside the library, questions for the shared
// pointer. No file beside the program's own is needed for it, nor locks of the file system, and in
// a simulation the order of answers is that of virtual time.
#include <utility>

#include <weft/message/mpi/file.hpp>

namespace weft::mpi {

namespace {

enum Tag : int { question_tag, first_answer_tag };

struct Question {
  enum class Kind : std::int32_t { advance, lock, unlock };
  Kind kind = Kind::advance;
  std::int32_t answer_tag = 0;
  std::int64_t etypes = 0;
};

using Traffic = Communicator::Traffic;

// Answers have a context of their own, so that the keeper's own receive never matches one.
mp::Task answer(Process& process, File& file, FileKeeper::Waiter to, std::int64_t value) {
  mp::Request* const sent =
      send(process, file, {to.rank, to.tag, Traffic::local, &value, sizeof value});
  co_await mp::finished(process.messenger, sent);
  co_return 0;
}

mp::Task handle(Process& process, File& file, Question question, FileKeeper::Waiter source) {
  FileKeeper& keeper = file.keeper;
  if (question.kind == Question::Kind::lock) {
    keeper.waiters.push_back(source);
  } else {
    std::int64_t before = keeper.position;
    if (question.kind == Question::Kind::advance) keeper.position += question.etypes;
    if (question.kind == Question::Kind::unlock) keeper.locked = false;
    mp::Task told = answer(process, file, source, before);
    co_await told;
  }
  if (keeper.locked || keeper.waiters.empty()) co_return 0;
  keeper.locked = true;
  const FileKeeper::Waiter next = keeper.waiters.front();
  keeper.waiters.pop_front();
  mp::Task granted = answer(process, file, next, 0);
  co_await granted;
  co_return 0;
}

mp::Task ask(Process& process, File& file, Question question, std::int64_t& value) {
  question.answer_tag = first_answer_tag + (file.keeper.last_answer_tag++ & 0x3fffffff);
  mp::Request* const told =
      receive(process, file, {0, question.answer_tag, Traffic::local, &value, sizeof value});
  mp::Request* const asked =
      send(process, file, {0, question_tag, Traffic::messages, &question, sizeof question});
  co_await mp::finished(process.messenger, asked);
  const mp::Arrival arrival = co_await mp::finished(process.messenger, told);
  co_return arrival.size == sizeof value ? MPI_SUCCESS : MPI_ERR_PROC_FAILED;
}

}  // namespace

mp::Task serve(Process& process, File& file) {
  for (;;) {
    Question question;
    file.keeper.listening =
        receive(process, file,
                {mp::any_source, question_tag, Traffic::messages, &question, sizeof question});
    const mp::Arrival arrival = co_await mp::finished(process.messenger, file.keeper.listening);
    file.keeper.listening = nullptr;
    if (arrival.cancelled || arrival.size != sizeof question) co_return 0;
    mp::Task handled = handle(process, file, question, {arrival.source, question.answer_tag});
    co_await handled;
  }
}

void stop_serving(Process& process, File& file) {
  if (file.keeper.listening) process.messenger.cancel(file.keeper.listening);
  process.run(file.keeper.server);
}

mp::Task advance_shared(Process& process, File& file, std::int64_t etypes, std::int64_t& before) {
  return ask(process, file, {Question::Kind::advance, 0, etypes}, before);
}

mp::Task lock_at_keeper(Process& process, File& file) {
  std::int64_t nothing = 0;
  mp::Task asked = ask(process, file, {Question::Kind::lock, 0, 0}, nothing);
  co_return co_await asked;
}

mp::Task unlock_at_keeper(Process& process, File& file) {
  std::int64_t nothing = 0;
  mp::Task asked = ask(process, file, {Question::Kind::unlock, 0, 0}, nothing);
  co_return co_await asked;
}

}  // namespace weft::mpi
