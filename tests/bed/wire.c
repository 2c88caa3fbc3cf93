// SPDX-License-Identifier: Apache-2.0
// Links with a constant delay for netlab, on kernels without sch_netem.
//
// Reads one line per link from standard input:   NAME_A NAME_B DELAY_NS MBIT
// It creates a TAP device for each end in the current network namespace, prints "ready", and then
// carries every frame from one end to the other DELAY_NS later. The caller moves the devices where
// they belong; the descriptors stay valid. GSO frames pass whole (IFF_VNET_HDR), so a link carries
// several Gbit/s. Rates are shaped elsewhere (tbf on the TAP devices); MBIT is only the speed that
// ethtool reports, and 0 leaves it alone.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  FRAME_MAX = 65536 + 64,
  VNET_HEADER = 10,
  READS_PER_EVENT = 16,
  EVENTS = 64,
};
static const size_t queue_max = 64u << 20;  // Bytes that one direction may hold in flight.
static const uint64_t second_ns = 1000000000u;

struct frame {
  struct frame* next;
  uint64_t due;
  uint32_t length;
  unsigned char data[];
};

struct end {
  int fd;
  struct end* peer;
  uint64_t delay;
  struct frame *head, *tail;  // Frames that will leave through this end, oldest first.
  size_t held;                // Their bytes.
};

static void fail(const char* what) {
  fprintf(stderr, "netlab wire: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

// Makes ethtool report this speed. The first request learns the size of the masks.
static void report_speed(struct ifreq* request, unsigned mbit) {
  struct {
    struct ethtool_link_settings settings;
    uint32_t masks[3 * 127];
  } link;
  memset(&link, 0, sizeof link);
  const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  link.settings.cmd = ETHTOOL_GLINKSETTINGS;
  request->ifr_data = (void*)&link;
  if (ioctl(s, SIOCETHTOOL, request) == 0 && link.settings.link_mode_masks_nwords < 0) {
    link.settings.link_mode_masks_nwords = (int8_t)-link.settings.link_mode_masks_nwords;
    if (ioctl(s, SIOCETHTOOL, request) == 0) {
      link.settings.cmd = ETHTOOL_SLINKSETTINGS;
      link.settings.speed = mbit;
      link.settings.duplex = DUPLEX_FULL;
      ioctl(s, SIOCETHTOOL, request);
    }
  }
  close(s);
}

static int open_tap(const char* name, unsigned mbit) {
  const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) fail("/dev/net/tun");
  struct ifreq request;
  memset(&request, 0, sizeof request);
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  snprintf(request.ifr_name, IFNAMSIZ, "%s", name);
  if (ioctl(fd, TUNSETIFF, &request) < 0) fail(name);
  int header = VNET_HEADER;
  ioctl(fd, TUNSETVNETHDRSZ, &header);
  const unsigned offload = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
  if (ioctl(fd, TUNSETOFFLOAD, offload) < 0) perror("netlab wire: TUNSETOFFLOAD");
  if (mbit != 0) report_speed(&request, mbit);
  return fd;
}

// The ends of all links, in pairs; returns their number.
static size_t read_links(struct end** ends) {
  size_t count = 0, room = 0;
  char a[64], b[64];
  unsigned long long delay;
  unsigned mbit;
  while (scanf("%63s %63s %llu %u", a, b, &delay, &mbit) == 4) {
    if (count + 2 > room) {
      room = room != 0 ? 2 * room : 64;
      *ends = realloc(*ends, room * sizeof **ends);
      if (*ends == NULL) fail("links");
    }
    memset(*ends + count, 0, 2 * sizeof **ends);
    (*ends)[count].fd = open_tap(a, mbit);
    (*ends)[count + 1].fd = open_tap(b, mbit);
    (*ends)[count].delay = (*ends)[count + 1].delay = delay;
    count += 2;
  }
  for (size_t i = 0; i < count; i++) (*ends)[i].peer = *ends + (i ^ 1);
  return count;
}

// Sends what is due by now. A device that is full keeps its frames; a frame that it refuses is
// lost.
static void send_due(struct end* end, uint64_t now) {
  while (end->head != NULL && end->head->due <= now) {
    struct frame* frame = end->head;
    if (write(end->fd, frame->data, frame->length) < 0 && errno == EAGAIN) return;
    end->head = frame->next;
    if (end->head == NULL) end->tail = NULL;
    end->held -= frame->length;
    free(frame);
  }
}

// A frame that does not fit into the queue is dropped, as a switch would drop it.
static void receive(struct end* in, unsigned char* buffer) {
  struct end* out = in->peer;
  for (int i = 0; i < READS_PER_EVENT; i++) {
    const ssize_t length = read(in->fd, buffer, FRAME_MAX);
    if (length <= 0) return;
    if (out->held + (size_t)length > queue_max) continue;
    struct frame* frame = malloc(sizeof *frame + (size_t)length);
    if (frame == NULL) continue;
    frame->next = NULL;
    frame->length = (uint32_t)length;
    frame->due = now_ns() + in->delay;
    memcpy(frame->data, buffer, (size_t)length);
    if (out->tail != NULL)
      out->tail->next = frame;
    else
      out->head = frame;
    out->tail = frame;
    out->held += (size_t)length;
  }
}

// Exact wake-ups as far as the system allows them: each of these may be refused.
static void ask_for_precision(void) {
  const struct sched_param first = {.sched_priority = 1};
  prctl(PR_SET_TIMERSLACK, 1UL);
  sched_setscheduler(0, SCHED_FIFO, &first);
  mlockall(MCL_CURRENT | MCL_FUTURE);
}

static void carry(struct end* ends, size_t count, int poll) {
  static unsigned char buffer[FRAME_MAX];
  struct epoll_event events[EVENTS];
  for (;;) {
    uint64_t next = UINT64_MAX;
    const uint64_t now = now_ns();
    for (size_t i = 0; i < count; i++) {
      send_due(&ends[i], now);
      if (ends[i].head != NULL && ends[i].head->due < next) next = ends[i].head->due;
    }
    const uint64_t after = now_ns(), wait = next > after ? next - after : 0;
    const struct timespec limit = {(time_t)(wait / second_ns), (long)(wait % second_ns)};
    const int ready = epoll_pwait2(poll, events, EVENTS, next != UINT64_MAX ? &limit : NULL, NULL);
    if (ready < 0 && errno != EINTR) fail("epoll_pwait2");
    for (int i = 0; i < ready; i++) receive(events[i].data.ptr, buffer);
  }
}

int main(void) {
  struct end* ends = NULL;
  const size_t count = read_links(&ends);
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  for (size_t i = 0; i < count; i++) {
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = &ends[i]};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, ends[i].fd, &wanted) < 0) fail("epoll");
  }
  ask_for_precision();
  signal(SIGPIPE, SIG_IGN);
  puts("ready");
  fflush(stdout);
  carry(ends, count, poll);
}
