// A line router on one thread with epoll: the floor under every server for messages. It stores nothing and checks nothing.
//
//   cc -O2 -o router tests/peers/router.c && ./router 9100
//
// It listens on loopback and prints its port; 0 is a free one. A client's first line is its name, answered by `+`. Every further line is `to id body`: the sender gets
// `+ id`, and the client of that name, if there is one, gets `from id body`. A line ends with a line feed. Answers of one turn of
// the loop leave with one write per client. A client with a longer line or more unread bytes than below is disconnected.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_BYTES = 16 * 1024, READ_BYTES = 64 * 1024, OUTPUT_BYTES = 1024 * 1024, EVENTS = 256, BUCKETS = 1 << 16 };

struct client {
  int fd;               // -1: closed, and freed at the end of the turn
  int waits_for_room;   // epoll reports when the socket takes more
  struct user *user;    // after the first line
  char *input, *output; // the begin of a line, and bytes to send
  size_t input_bytes, output_bytes, output_room;
  struct client *next_touched; // itself: the last one of the list
};

struct user { // stays when its client leaves
  struct user *next;
  struct client *client;
  size_t bytes;
  char name[];
};

static int epoll;
static struct user *buckets[BUCKETS];
static struct client *touched; // to write or to free at the end of the turn
static char input[LINE_BYTES + READ_BYTES];

static void die(const char *what) {
  perror(what);
  exit(1);
}

static struct user **find(const char *name, size_t bytes) {
  unsigned hash = 2166136261u; // FNV-1a
  for (size_t at = 0; at < bytes; at++) hash = (hash ^ (unsigned char)name[at]) * 16777619u;
  struct user **user = &buckets[(hash ^ hash >> 16) % BUCKETS];
  while (*user && ((*user)->bytes != bytes || memcmp((*user)->name, name, bytes))) user = &(*user)->next;
  return user;
}

static void touch(struct client *client) {
  if (client->next_touched) return;
  client->next_touched = touched ? touched : client;
  touched = client;
}

static void leave(struct client *client) {
  if (client->fd < 0) return;
  close(client->fd);
  client->fd = -1;
  if (client->user && client->user->client == client) client->user->client = NULL;
  touch(client);
}

static void put(struct client *client, const char *bytes, size_t count) {
  if (client->fd < 0) return;
  if (client->output_bytes + count > client->output_room) {
    client->output_room = 2 * (client->output_bytes + count);
    client->output = realloc(client->output, client->output_room);
    if (!client->output) die("realloc");
  }
  memcpy(client->output + client->output_bytes, bytes, count);
  client->output_bytes += count;
  touch(client);
}

static void take_line(struct client *client, char *line, size_t bytes) { // without its line feed
  if (!client->user) {
    struct user **user = find(line, bytes);
    if (!*user) {
      *user = calloc(1, sizeof **user + bytes);
      if (!*user) die("calloc");
      (*user)->bytes = bytes;
      memcpy((*user)->name, line, bytes);
    }
    client->user = *user;
    client->user->client = client;
    put(client, "+\n", 2);
    return;
  }
  char *id = memchr(line, ' ', bytes);
  char *body = id ? memchr(id + 1, ' ', line + bytes - id - 1) : NULL;
  if (!body) return leave(client);
  struct user *to = *find(line, id - line);
  put(client, "+", 1);
  put(client, id, body - id);
  put(client, "\n", 1);
  if (!to || !to->client) return;
  put(to->client, client->user->name, client->user->bytes);
  put(to->client, id, line + bytes + 1 - id);
}

static void take_input(struct client *client) {
  size_t kept = client->input_bytes;
  if (kept) memcpy(input, client->input, kept);
  ssize_t got = recv(client->fd, input + kept, READ_BYTES, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return leave(client);
  char *at = input, *end = input + kept + got, *feed;
  while (client->fd >= 0 && (feed = memchr(at, '\n', end - at))) {
    take_line(client, at, feed - at);
    at = feed + 1;
  }
  client->input_bytes = end - at;
  if (client->input_bytes > LINE_BYTES) return leave(client);
  free(client->input);
  client->input = NULL;
  if (!client->input_bytes) return;
  client->input = malloc(client->input_bytes);
  if (!client->input) die("malloc");
  memcpy(client->input, at, client->input_bytes);
}

static void write_output(struct client *client) {
  ssize_t sent = send(client->fd, client->output, client->output_bytes, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return leave(client);
  if (sent > 0) memmove(client->output, client->output + sent, client->output_bytes -= sent);
  if (client->output_bytes > OUTPUT_BYTES) return leave(client);
  int waits = client->output_bytes > 0;
  if (waits != client->waits_for_room) {
    struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.ptr = client};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, client->fd, &event)) die("epoll_ctl");
    client->waits_for_room = waits;
  }
  if (!waits) {
    free(client->output);
    client->output = NULL;
    client->output_room = 0;
  }
}

static void end_turn(void) {
  while (touched) {
    struct client *client = touched;
    touched = client->next_touched == client ? NULL : client->next_touched;
    if (client->fd >= 0) write_output(client); // which may close it
    client->next_touched = NULL;
    if (client->fd >= 0) continue;
    free(client->input);
    free(client->output);
    free(client);
  }
}

static void accept_clients(int listener) {
  int fd, on = 1;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    struct client *client = calloc(1, sizeof *client);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!client || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) die("accept");
    client->fd = fd;
  }
}

int main(int count, char **arguments) {
  struct rlimit limit;
  if (!getrlimit(RLIMIT_NOFILE, &limit)) limit.rlim_cur = limit.rlim_max, setrlimit(RLIMIT_NOFILE, &limit);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(arguments[1]) : 9100)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096)) die("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &length)) die("getsockname");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  epoll = epoll_create1(0);
  struct epoll_event events[EVENTS], event = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) die("epoll");
  for (;;) {
    int ready = epoll_wait(epoll, events, EVENTS, -1);
    for (int at = 0; at < ready; at++) {
      struct client *client = events[at].data.ptr;
      if (!client) {
        accept_clients(listener);
        continue;
      }
      if (client->fd >= 0 && events[at].events & ~EPOLLOUT) take_input(client);
      if (events[at].events & EPOLLOUT) touch(client);
    }
    end_turn();
  }
}
