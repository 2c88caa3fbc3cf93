// SPDX-License-Identifier: Apache-2.0
// Makes netlab's hosts, and is to them what sshd is to a real cluster: a process inside the PID
// namespace of one host cannot enter that of another, so this one stands outside and does it.
//
//   agent hosts DIR CC            makes a host for each name on standard input: a process that owns
//                                 its namespaces, waits, and reaps orphans. DIR/pid/NAME gets
//                                 "PID START". CC is the TCP congestion control of the hosts.
//   agent apply DIR               runs DIR/ip/HOST and DIR/tc/HOST (ip -batch, tc -batch) in the
//                                 network of each host
//   agent serve DIR               serves requests on the socket DIR/agent
//   agent exec DIR HOST CMD...    runs CMD on HOST with the caller's standard streams, working
//                                 directory and environment
//   agent ping ADDRESS COUNT MS SIZE
//                                 sends COUNT echo requests of SIZE bytes, one every MS
//                                 milliseconds at most, and prints how many were answered and the
//                                 least time
//
// The exit code of exec is that of CMD (128 + n after signal n). When the caller of exec goes away,
// CMD's session is killed. The socket is a file of root's; no port is opened.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4200, REQUEST_MAX = 64 << 20, HOSTS_AT_ONCE = 8, FAILED = 255 };

extern char** environ;

static void fail(const char* what) {
  fprintf(stderr, "netlab agent: %s: %s\n", what, strerror(errno));
  _exit(FAILED);
}

static int read_all(int fd, void* buffer, size_t bytes) {
  for (char* at = buffer; bytes != 0;) {
    const ssize_t got = read(fd, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    at += got;
    bytes -= (size_t)got;
  }
  return 0;
}

static int write_all(int fd, const void* buffer, size_t bytes) {
  for (const char* at = buffer; bytes != 0;) {
    const ssize_t put = write(fd, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return -1;
    at += put;
    bytes -= (size_t)put;
  }
  return 0;
}

static struct sockaddr_un address_of(const char* dir) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/agent", dir);
  if ((size_t)length >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail(dir);
  }
  return address;
}

static long pid_of(const char* dir, const char* host) {
  char path[PATH_ROOM];
  snprintf(path, sizeof path, "%s/pid/%.64s", dir, host);
  FILE* file = fopen(path, "r");
  long pid = 0;
  if (file == NULL || fscanf(file, "%ld", &pid) != 1) fail(host);
  fclose(file);
  return pid;
}

// ---- A request: the header with the caller's three descriptors, then strings that end in NUL:
// host, working directory, the words of the command, the environment.

struct header {
  uint32_t bytes, words;
};
struct request {
  char *host, *folder;
  char **words, **environment;
  int streams[3];
};

static char* put_text(char* at, const char* text) {
  return stpcpy(at, text) + 1;
}

static void send_header(int s, struct header header) {
  const int streams[3] = {0, 1, 2};
  for (int i = 0; i < 3; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) fail("/dev/null");
  char control[CMSG_SPACE(sizeof streams)];
  memset(control, 0, sizeof control);
  struct iovec part = {&header, sizeof header};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof streams);
  memcpy(CMSG_DATA(rights), streams, sizeof streams);
  if (sendmsg(s, &message, 0) != sizeof header) fail("send");
}

// `words` are the host and the command.
static int exec_remote(const char* dir, char** words) {
  const struct sockaddr_un address = address_of(dir);
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0 || connect(s, (const void*)&address, sizeof address) < 0) fail("no agent");
  char* known = getcwd(NULL, 0);
  const char* folder = known != NULL ? known : "/";
  struct header header = {0, 0};
  size_t bytes = strlen(words[0]) + 1 + strlen(folder) + 1;
  for (char** word = words + 1; *word != NULL; word++, header.words++) bytes += strlen(*word) + 1;
  for (char** word = environ; *word != NULL; word++) bytes += strlen(*word) + 1;
  char* text = malloc(bytes);
  if (text == NULL) fail("memory");
  char* at = put_text(put_text(text, words[0]), folder);
  for (char** word = words + 1; *word != NULL; word++) at = put_text(at, *word);
  for (char** word = environ; *word != NULL; word++) at = put_text(at, *word);
  header.bytes = (uint32_t)bytes;
  send_header(s, header);
  if (write_all(s, text, bytes) < 0) fail("send");
  uint32_t code;
  if (read_all(s, &code, sizeof code) < 0) {
    fprintf(stderr, "netlab agent: lost %s\n", words[0]);
    return FAILED;
  }
  return (int)code;
}

static struct header receive_header(int s, int streams[3]) {
  struct header header;
  char control[CMSG_SPACE(3 * sizeof(int))];
  struct iovec part = {&header, sizeof header};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(s, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != sizeof header) _exit(1);
  const struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights == NULL || rights->cmsg_type != SCM_RIGHTS ||
      rights->cmsg_len != CMSG_LEN(3 * sizeof(int)) || header.bytes > REQUEST_MAX)
    _exit(1);
  memcpy(streams, CMSG_DATA(rights), 3 * sizeof(int));
  return header;
}

// The variable that tells a command on which host it runs replaces the caller's.
static char** environment_of(const char* host, char* at, const char* end) {
  static char tag[128];
  size_t count = 0, kept = 0;
  for (const char* text = at; text < end; text += strlen(text) + 1) count++;
  char** environment = calloc(count + 2, sizeof *environment);
  if (environment == NULL) fail("memory");
  for (char* text = at; text < end; text += strlen(text) + 1)
    if (strncmp(text, "NETLAB_HOST=", 12) != 0) environment[kept++] = text;
  snprintf(tag, sizeof tag, "NETLAB_HOST=%.64s", host);
  environment[kept] = tag;
  return environment;
}

static struct request receive_request(int s) {
  struct request request;
  const struct header header = receive_header(s, request.streams);
  char* text = malloc(header.bytes + 1u);
  if (text == NULL || read_all(s, text, header.bytes) < 0) _exit(1);
  text[header.bytes] = 0;
  dup2(request.streams[2], 2);  // Complaints go to the caller.
  const char* end = text + header.bytes;
  request.host = text;
  request.folder = request.host + strlen(request.host) + 1;
  char* at = request.folder + strlen(request.folder) + 1;
  request.words = calloc(header.words + 1u, sizeof *request.words);
  if (request.words == NULL) fail("memory");
  for (uint32_t i = 0; i < header.words && at < end; i++, at += strlen(at) + 1)
    request.words[i] = at;
  if (strlen(request.host) > 64 || strchr(request.host, '/') != NULL || header.words == 0) {
    errno = EINVAL;
    fail(request.host);
  }
  request.environment = environment_of(request.host, at, end);
  return request;
}

// ---- The server; each request is served by a process of its own.

static void enter(const char* dir, const char* host) {
  static const char* const kinds[] = {"ipc", "uts", "net", "pid", "mnt"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  char path[PATH_ROOM];
  int namespaces[KINDS];
  const long pid = pid_of(dir, host);
  for (int i = 0; i < KINDS; i++) {
    snprintf(path, sizeof path, "/proc/%ld/ns/%s", pid, kinds[i]);
    namespaces[i] = open(path, O_RDONLY | O_CLOEXEC);
    if (namespaces[i] < 0) fail(host);
  }
  for (int i = 0; i < KINDS; i++)
    if (setns(namespaces[i], 0) < 0) fail(host);
}

static void become(const struct request* request) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  for (int i = 0; i < 3; i++) dup2(request->streams[i], i);
  if (chdir(request->folder) < 0 && chdir("/") < 0) fail(request->folder);
  signal(SIGPIPE, SIG_DFL);
  environ = request->environment;
  execvp(request->words[0], request->words);
  fail(request->words[0]);
}

// Waits for the command. If the caller goes away, the command's session gets SIGTERM, then SIGKILL.
static void wait_for(pid_t command, int caller) {
  const int ended = (int)syscall(SYS_pidfd_open, command, 0);
  int status = 0, signals = 0;
  for (;;) {
    struct pollfd watched[2] = {{ended, POLLIN, 0},
                                {signals != 0 ? -1 : caller, POLLIN | POLLRDHUP, 0}};
    poll(watched, 2, signals != 0 ? 1000 : -1);
    if (waitpid(command, &status, WNOHANG) == command) break;
    if (signals != 0 || (watched[1].revents & (POLLIN | POLLHUP | POLLRDHUP | POLLERR)) != 0) {
      kill(-command, signals != 0 ? SIGKILL : SIGTERM);
      signals++;
    }
  }
  const uint32_t code =
      WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 128u + (uint32_t)WTERMSIG(status);
  if (signals == 0) write_all(caller, &code, sizeof code);
}

static void serve_one(int caller, const char* dir) {
  const struct request request = receive_request(caller);
  enter(dir, request.host);
  const pid_t command = fork();
  if (command < 0) fail("fork");
  if (command == 0) become(&request);
  // Hold none of the caller's files: whoever reads them waits for their end.
  for (int i = 0; i < 3; i++) close(request.streams[i]);
  dup2(open("/dev/null", O_RDWR), 2);
  wait_for(command, caller);
  _exit(0);
}

static void serve(const char* dir) {
  const struct sockaddr_un address = address_of(dir);
  unlink(address.sun_path);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (const void*)&address, sizeof address) < 0 ||
      listen(listener, 1024) < 0)
    fail(address.sun_path);
  signal(SIGCHLD, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  puts("ready");
  fflush(stdout);
  for (;;) {
    const int caller = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (caller < 0 && errno == EINTR) continue;
    if (caller < 0) fail("accept");
    if (fork() == 0) {
      close(listener);
      signal(SIGCHLD, SIG_DFL);
      setsid();
      serve_one(caller, dir);
    }
    close(caller);
  }
}

// ---- Hosts

// A setting that this kernel may not have.
static void set_if_there(const char* path, const char* value) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, value, strlen(value)) < 0) errno = 0;
  close(fd);
}

static void mount_own(const char* type, const char* place, const char* options) {
  const unsigned long flags = MS_NOSUID | MS_NODEV | (options == NULL ? MS_NOEXEC : 0);
  if (mount(type, place, type, flags, options) < 0) fail(place);
}

static void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (s < 0 || ioctl(s, SIOCSIFFLAGS, &request) < 0) fail("lo");
  close(s);
}

static void set_up_host(const char* dir, const char* host, const char* congestion) {
  char table[PATH_ROOM];
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("private mounts");
  if (sethostname(host, strlen(host)) < 0) fail("hostname");
  mount_own("proc", "/proc", NULL);
  // Some containers forbid it; then /sys shows the devices of the machine.
  if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) errno = 0;
  mount_own("tmpfs", "/dev/shm", "mode=1777,size=50%");
  snprintf(table, sizeof table, "%s/etc-hosts", dir);
  if (mount(table, "/etc/hosts", NULL, MS_BIND, NULL) < 0) fail("/etc/hosts");
  set_if_there("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
  set_if_there("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
  set_if_there("/proc/sys/net/ipv4/tcp_congestion_control", congestion);
  set_if_there("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
  set_if_there("/proc/sys/net/bridge/bridge-nf-call-iptables", "0");
  set_if_there("/proc/sys/net/bridge/bridge-nf-call-ip6tables", "0");
  set_if_there("/proc/sys/net/bridge/bridge-nf-call-arptables", "0");
  raise_loopback();
}

// The first process of a host. It begins when its PID outside is written down.
static void be_host(const char* dir, const char* name, const char* congestion, int parent) {
  char go = 0;
  if (chdir("/") < 0 || read(parent, &go, 1) != 1) _exit(1);
  set_up_host(dir, *name == '@' ? name + 1 : name, congestion);
  const int null = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; i++) dup2(null, i);
  go = 1;
  if (write(parent, &go, 1) != 1) _exit(1);
  syscall(SYS_close_range, 3u, ~0u, 0u);
  for (int i = 1; i < 32; i++) signal(i, SIG_DFL);
  signal(SIGCHLD, SIG_IGN);
  prctl(PR_SET_NAME, "netlab-host");
  for (;;) pause();
}

// When a process started (field 22 of its stat): with the PID it names the process for ever.
static unsigned long long start_of(pid_t pid) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  const char* at = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
  fclose(file);
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static int write_down(const char* dir, const char* name, pid_t pid) {
  char draft[PATH_ROOM];
  snprintf(draft, sizeof draft, "%s/pid/.%s", dir, name);
  const unsigned long long start = start_of(pid);
  FILE* file = start != 0 ? fopen(draft, "w") : NULL;
  if (file == NULL) return -1;
  const int put = fprintf(file, "%d %llu\n", (int)pid, start);
  return fclose(file) == 0 && put > 0 ? 0 : -1;
}

// In a process of its own. The file with the PID gets its name when the host is ready.
static int make_host(const char* dir, const char* name, const char* congestion) {
  int pair[2];
  char ready = 0, draft[PATH_ROOM], path[PATH_ROOM];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) fail("socketpair");
  setsid();
  if (unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWPID) < 0)
    fail("unshare");
  const pid_t host = fork();
  if (host < 0) fail("fork");
  if (host == 0) {
    close(pair[0]);
    be_host(dir, name, congestion, pair[1]);
  }
  close(pair[1]);
  snprintf(draft, sizeof draft, "%s/pid/.%s", dir, name);
  snprintf(path, sizeof path, "%s/pid/%s", dir, name);
  if (write_down(dir, name, host) == 0 && write(pair[0], "", 1) == 1 &&
      read(pair[0], &ready, 1) == 1 && rename(draft, path) == 0)
    return 0;
  kill(host, SIGKILL);
  return 1;
}

static int make_hosts(const char* dir, const char* congestion) {
  char name[128];
  int wrong = 0, status, running = 0;
  while (scanf("%64s", name) == 1) {
    const pid_t maker = fork();
    if (maker < 0) fail("fork");
    if (maker == 0) _exit(make_host(dir, name, congestion));
    if (++running < HOSTS_AT_ONCE) continue;
    wait(&status);
    running--;
    wrong |= status;
  }
  for (; running > 0; running--) {
    wait(&status);
    wrong |= status;
  }
  return wrong != 0 ? 1 : 0;
}

static void apply_one(const char* dir, const char* tool, const char* host) {
  char path[PATH_ROOM];
  snprintf(path, sizeof path, "/proc/%ld/ns/net", pid_of(dir, host));
  const int network = open(path, O_RDONLY | O_CLOEXEC);
  if (network < 0 || setns(network, CLONE_NEWNET) < 0) fail(host);
  snprintf(path, sizeof path, "%s/%s/%.64s", dir, tool, host);
  execlp(tool, tool, "-batch", path, (char*)NULL);
  fail(tool);
}

static int apply(const char* dir, const char* tool) {
  char path[PATH_ROOM];
  int wrong = 0, status = 0;
  snprintf(path, sizeof path, "%s/%s", dir, tool);
  DIR* hosts = opendir(path);
  if (hosts == NULL) fail(path);
  for (struct dirent* entry; (entry = readdir(hosts)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    const pid_t worker = fork();
    if (worker < 0) fail("fork");
    if (worker == 0) apply_one(dir, tool, entry->d_name);
    waitpid(worker, &status, 0);
    if (status == 0) continue;
    fprintf(stderr, "netlab agent: %s failed on %s\n", tool, entry->d_name);
    wrong = 1;
  }
  closedir(hosts);
  return wrong;
}

// ---- Echo requests, for hosts without iputils

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

// Microseconds until this request was answered; negative after a second without an answer. The
// kernel fills in identifier and checksum, and hands over answers to this socket only.
static double echo(int s, char* packet, size_t bytes, uint16_t number) {
  struct icmphdr header = {.type = ICMP_ECHO, .un.echo.sequence = htons(number)}, answer;
  memcpy(packet, &header, sizeof header);
  const double begin = now_us();
  if (send(s, packet, bytes, 0) < 0) return -1;
  for (;;) {
    const double passed = now_us() - begin;
    struct pollfd watched = {s, POLLIN, 0};
    if (passed > 1e6 || poll(&watched, 1, 1000 - (int)(passed / 1000)) <= 0) return -1;
    const ssize_t got = recv(s, packet, bytes, 0);
    if (got < (ssize_t)sizeof answer) continue;
    memcpy(&answer, packet, sizeof answer);
    if (answer.type == ICMP_ECHOREPLY && ntohs(answer.un.echo.sequence) == number)
      return now_us() - begin;
  }
}

static int ping(char** words) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  const int count = atoi(words[1]), pause_ms = atoi(words[2]), size = atoi(words[3]);
  const size_t bytes = sizeof(struct icmphdr) + (size_t)(size > 0 ? size : 0);
  char* packet = calloc(1, bytes);
  const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
  if (packet == NULL || s < 0) fail("ping");
  if (inet_pton(AF_INET, words[0], &address.sin_addr) != 1) {
    errno = EINVAL;
    fail(words[0]);
  }
  // Without a route there is no answer either.
  const int routed = connect(s, (const void*)&address, sizeof address) == 0;
  int answered = 0;
  double least = 0;
  for (int i = 0; i < count; i++) {
    const double us = routed ? echo(s, packet, bytes, (uint16_t)i) : -1;
    if (us >= 0 && (answered == 0 || us < least)) least = us;
    if (us >= 0) answered++;
    if (i + 1 < count) usleep((useconds_t)pause_ms * 1000);
  }
  printf("%d of %d answered, least %.0f us\n", answered, count, least);
  return answered == count ? 0 : 1;
}

int main(int argc, char** argv) {
  const char* what = argc > 2 ? argv[1] : "";
  if (argc >= 5 && strcmp(what, "exec") == 0) return exec_remote(argv[2], argv + 3);
  if (argc == 4 && strcmp(what, "hosts") == 0) return make_hosts(argv[2], argv[3]);
  if (argc == 3 && strcmp(what, "apply") == 0)
    return apply(argv[2], "ip") != 0 || apply(argv[2], "tc") != 0 ? 1 : 0;
  if (argc == 3 && strcmp(what, "serve") == 0) serve(argv[2]);
  if (argc == 6 && strcmp(what, "ping") == 0) return ping(argv + 2);
  fputs(
      "usage: agent hosts DIR CC | apply DIR | serve DIR | exec DIR HOST CMD... |\n"
      "       ping ADDRESS COUNT MS SIZE\n",
      stderr);
  return 2;
}
