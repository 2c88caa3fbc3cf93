/* SPDX-License-Identifier: Apache-2.0
 * The tool interface: every variable, category and enumeration can be asked for, and counters count
 * what the program sends. */
#include "check.h"

static int controls, measures;

static void look_at_controls(void) {
  CHECK(MPI_T_cvar_get_num(&controls) == MPI_SUCCESS && controls > 0);
  for (int i = 0; i < controls; ++i) {
    char name[64], text[256], few[5];
    int name_len = sizeof name, text_len = sizeof text, few_len = sizeof few;
    int verbosity, bind, scope, index = -1, count = 0, items = 0;
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &values, text, &text_len,
                              &bind, &scope) == MPI_SUCCESS);
    CHECK((int)strlen(name) + 1 == name_len && (int)strlen(text) + 1 == text_len);
    CHECK(bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_READONLY);
    CHECK(MPI_T_cvar_get_info(i, few, &few_len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_SUCCESS);
    CHECK(few_len == name_len && strlen(few) == 4);
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
    CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS && count == 1);
    union {
      int number;
      unsigned long bytes;
    } value = {.bytes = 0};
    CHECK(MPI_T_cvar_read(handle, &value) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_write(handle, &value) == MPI_T_ERR_CVAR_SET_NEVER);
    CHECK(type == MPI_INT || type == MPI_UNSIGNED_LONG);
    if (strcmp(name, "weft_eager_limit") == 0) CHECK(value.bytes > 0);
    if (values != MPI_T_ENUM_NULL) {
      int number = -1;
      name_len = sizeof name;
      CHECK(MPI_T_enum_get_info(values, &items, name, &name_len) == MPI_SUCCESS);
      CHECK(value.number >= 0 && value.number < items);
      name_len = sizeof name;
      CHECK(MPI_T_enum_get_item(values, value.number, &number, name, &name_len) == MPI_SUCCESS);
      CHECK(number == value.number && name[0] != 0);
      CHECK(MPI_T_enum_get_item(values, items, &number, name, &name_len) ==
            MPI_T_ERR_INVALID_INDEX);
    }
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
  }
  CHECK(MPI_T_cvar_get_info(controls, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
}

static void look_at_categories(void) {
  int categories = 0, events = -1, update = -1, seen_controls = 0, seen_measures = 0;
  CHECK(MPI_T_category_get_num(&categories) == MPI_SUCCESS && categories > 0);
  for (int i = 0; i < categories; ++i) {
    char name[64];
    int name_len = sizeof name, own = 0, counted = 0, inner = -1, index = -1, list[64];
    CHECK(MPI_T_category_get_info(i, name, &name_len, NULL, NULL, &own, &counted, &inner) ==
          MPI_SUCCESS);
    CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
    CHECK(MPI_T_category_get_cvars(i, 64, list) == MPI_SUCCESS);
    for (int k = 0; k < own; ++k) CHECK(list[k] >= 0 && list[k] < controls);
    CHECK(MPI_T_category_get_pvars(i, 64, list) == MPI_SUCCESS);
    for (int k = 0; k < counted; ++k) CHECK(list[k] >= 0 && list[k] < measures);
    CHECK(MPI_T_category_get_num_events(i, &events) == MPI_SUCCESS && events == 0 && inner == 0);
    seen_controls += own;
    seen_measures += counted;
  }
  CHECK(seen_controls == controls && seen_measures == measures);
  CHECK(MPI_T_category_changed(&update) == MPI_SUCCESS);
  CHECK(MPI_T_event_get_num(&events) == MPI_SUCCESS && events == 0);
  CHECK(MPI_T_source_get_num(&events) == MPI_SUCCESS && events == 0);
  CHECK(MPI_T_event_get_index("anything", &events) == MPI_T_ERR_INVALID_NAME);
}

/* Counters of messages, before and after `count` of them to the next rank. */
static void count_messages(int rank, int size, int count) {
  int index = -1, length = 0;
  unsigned long long eager = 99, bytes = 99, alive = 99;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle messages, sent, requests;
  CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_index("weft_eager_messages", MPI_T_PVAR_CLASS_COUNTER, &index) ==
        MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &messages, &length) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_index("weft_bytes_sent", MPI_T_PVAR_CLASS_LEVEL, &index) ==
        MPI_T_ERR_INVALID_NAME);
  MPI_T_pvar_get_index("weft_bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
  MPI_T_pvar_handle_alloc(session, index, NULL, &sent, &length);
  MPI_T_pvar_get_index("weft_requests", MPI_T_PVAR_CLASS_LEVEL, &index);
  MPI_T_pvar_handle_alloc(session, index, NULL, &requests, &length);
  CHECK(MPI_T_pvar_start(session, requests) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_read(session, messages, &eager) == MPI_SUCCESS && eager == 0);
  CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    int data[4] = {0};
    MPI_Sendrecv_replace(data, 4, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD); /* Not counted. */
  CHECK(MPI_T_pvar_read(session, messages, &eager) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_readreset(session, sent, &bytes) == MPI_SUCCESS);
  CHECK(eager == (unsigned long long)count && bytes == 16ULL * (unsigned long long)count);
  CHECK(MPI_T_pvar_read(session, sent, &bytes) == MPI_SUCCESS && bytes == 0);
  CHECK(MPI_T_pvar_read(session, requests, &alive) == MPI_SUCCESS && alive == 0);
  CHECK(MPI_T_pvar_reset(session, requests) == MPI_T_ERR_PVAR_NO_WRITE);
  eager = 5;
  CHECK(MPI_T_pvar_write(session, messages, &eager) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_read(session, messages, &bytes) == MPI_SUCCESS && bytes == 5);
  CHECK(MPI_T_pvar_handle_free(session, &messages) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_read(session, messages, &bytes) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
}

/* Rails to each rank of a communicator. */
static void look_at_rails(int rank, int size) {
  int index = -1, length = 0, bind = 0;
  unsigned long long all[16] = {0}, up[16] = {0};
  MPI_Comm comm;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle rails, working;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_T_pvar_session_create(&session);
  CHECK(MPI_T_pvar_get_index("weft_rails", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL,
                            NULL, NULL) == MPI_SUCCESS);
  CHECK(bind == MPI_T_BIND_MPI_COMM);
  CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &rails, &length) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &rails, &length) == MPI_SUCCESS);
  CHECK(length == size && size <= 16);
  MPI_T_pvar_get_index("weft_rails_up", MPI_T_PVAR_CLASS_LEVEL, &index);
  CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &working, &length) == MPI_SUCCESS);
  MPI_Barrier(comm);
  CHECK(MPI_T_pvar_read(session, rails, all) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_read(session, working, up) == MPI_SUCCESS);
  for (int i = 0; i < size; ++i) {
    CHECK(i == rank ? all[i] == 0 : all[i] > 0);
    CHECK(up[i] <= all[i]);
  }
  if (size > 1) CHECK(up[(rank + 1) % size] > 0); /* The barrier has used it. */
  MPI_Comm_free(&comm);
  CHECK(MPI_T_pvar_read(session, rails, all) == MPI_T_ERR_INVALID_HANDLE);
  MPI_T_pvar_session_free(&session);
}

int main(int count, char** words) {
  int rank, size, provided = -1, before = 0;
  CHECK(MPI_T_cvar_get_num(&before) == MPI_T_ERR_NOT_INITIALIZED);
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_get_num(&before) == MPI_SUCCESS);
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_num(&measures) == MPI_SUCCESS && measures > 0);
  look_at_controls();
  CHECK(controls == before);
  look_at_categories();
  count_messages(rank, size, 10);
  look_at_rails(rank, size);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  report(rank);
  MPI_Finalize();
  CHECK(MPI_T_cvar_get_num(&before) == MPI_SUCCESS);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
  return wrong != 0;
}
