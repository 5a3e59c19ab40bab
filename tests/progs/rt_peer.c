// SPDX-License-Identifier: MIT
// A client of JProf's command server that breaks its protocol, and a server that does so for rtdriver.
//   rt_peer say SOCKET TEXT       sends TEXT and prints the answer until the end of the connection or two seconds of silence
//   rt_peer half SOCKET           sends half a message and ends sending; prints the answer
//   rt_peer gigabyte SOCKET       sends one without end; prints "cut off" or how many bytes were accepted
//   rt_peer crowd SOCKET NUMBER   opens NUMBER connections; prints how many of them were refused
//   rt_peer deaf SOCKET           asks until the server reads no more, reads no answer, prints "full", waits for its input's end
//   rt_peer serve SOCKET KIND     accepts one client and answers: steer (escape sequences), huge (a length of 1 GB), end
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char greeting[] = "\x0e\x0f\x0e\x0f";

static void fail(const char *what)
{
    fprintf(stderr, "rt_peer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        fail(path);
    }
    strcpy(address.sun_path, path);
    return address;
}

static int connect_to(const char *path)
{
    const struct sockaddr_un address = address_of(path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        fail(path);
    return fd;
}

static void send_text(int fd, const char *text, size_t size)
{
    if (send(fd, text, size, MSG_NOSIGNAL) != (ssize_t)size)
        fail("send");
}

static void send_frame(int fd, const char *text)
{
    const size_t size = strlen(text);
    const unsigned char head[4] = {0, 0, (unsigned char)(size >> 8), (unsigned char)size};
    send_text(fd, (const char *)head, sizeof head);
    send_text(fd, text, size);
}

static void print_answer(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    while (poll(&waiting, 1, 2000) > 0) {
        char text[4096];
        const ssize_t got = recv(fd, text, sizeof text, 0);
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got; i++)
            putchar(text[i] >= ' ' && text[i] <= '~' ? text[i] : '.');
    }
    putchar('\n');
}

static void half(int fd)
{
    send_text(fd, greeting, 4);
    send_text(fd, "\0\0\0\5res", 7);
    shutdown(fd, SHUT_WR);
    print_answer(fd);
}

static void gigabyte(int fd)
{
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 1024; i++)
        if (send(fd, block, sizeof block, MSG_NOSIGNAL) != (ssize_t)sizeof block) {
            puts("cut off");
            return;
        }
    puts("1073741824 bytes were accepted");
}

static void crowd(const char *path, int count)
{
    struct pollfd *all = calloc((size_t)count, sizeof *all);
    int refused = 0;
    if (!all)
        fail("calloc");
    for (int i = 0; i < count; i++)
        all[i] = (struct pollfd){.fd = connect_to(path), .events = POLLIN};
    // The server accepts in order: when it has refused the last one, it has decided on all.
    for (int i = count - 1; i >= 0; i--) {
        char answer = 0;
        if (poll(&all[i], 1, i < 16 ? 50 : 5000) > 0 && recv(all[i].fd, &answer, 1, 0) == 1 && answer == 'N')
            refused++;
    }
    printf("%d\n", refused);
}

static void deaf(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLOUT};
    send_text(fd, greeting, 4);
    while (poll(&waiting, 1, 500) > 0 && !(waiting.revents & (POLLERR | POLLHUP)))
        send_frame(fd, "alljprofhelp");
    puts("full");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

static void serve(const char *path, const char *kind)
{
    const struct sockaddr_un address = address_of(path);
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[4096];
    if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0)
        fail(path);
    const int fd = accept(listener, NULL, NULL);
    if (fd < 0 || recv(fd, text, 4, MSG_WAITALL) != 4 || memcmp(text, greeting, 4) != 0)
        fail("no greeting");
    send_text(fd, "K", 1);
    if (recv(fd, text, sizeof text, 0) <= 0)
        fail("no command");
    if (strcmp(kind, "steer") == 0) {
        send_frame(fd, "K");
        send_frame(fd, "a\x1b[2J\rb\x9b" "1m\nc");
        send_text(fd, "\0\0\0\0", 4);
    } else if (strcmp(kind, "huge") == 0) {
        send_text(fd, "\x40\0\0\0", 4);
    }
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    const char *mode = words[1], *path = words[2], *text = count > 3 ? words[3] : "";
    if (strcmp(mode, "serve") == 0) {
        serve(path, text);
    } else if (strcmp(mode, "crowd") == 0) {
        crowd(path, atoi(text));
    } else {
        const int fd = connect_to(path);
        if (strcmp(mode, "say") == 0) {
            // A server that refuses the client may have closed the connection already.
            if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0 && errno != EPIPE)
                fail("send");
            print_answer(fd);
        } else if (strcmp(mode, "half") == 0) {
            half(fd);
        } else if (strcmp(mode, "gigabyte") == 0) {
            gigabyte(fd);
        } else if (strcmp(mode, "deaf") == 0) {
            deaf(fd);
        } else {
            return 2;
        }
    }
    return 0;
}
