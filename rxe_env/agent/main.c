// SPDX-License-Identifier: BSD-2-Clause
//
// roceproof-agent [--device NAME] [CHANNEL]
//
// Serves the verbs protocol on a channel device such as a virtio port, or on
// stdin and stdout. A session starts with a "ready" line, which on a virtio
// port waits for somebody to listen, and ends with "quit" or when the other
// side goes away; everything it allocated is freed then. On a channel device
// the next session follows, until one quits.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ops/connections.h"
#include "ops/ops.h"
#include "protocol/line.h"
#include "verbs/session.h"

enum end { END_QUIT, END_HANGUP, END_NO_MEMORY };

static bool send_ready(int fd) {
    char line[64];
    int length =
        snprintf(line, sizeof(line), "{\"event\":\"ready\",\"schema\":%d}\n", AGENT_SCHEMA);
    return line_write(fd, line, (size_t)length);
}

static enum end converse(struct session *session, struct line_reader *reader, int output) {
    if (!send_ready(output)) {
        return END_HANGUP;
    }
    while (!session->quit) {
        const char *line = NULL;
        size_t length = 0;
        enum line_result result = line_read(reader, &line, &length);
        if (result == LINE_EOF) {
            return END_HANGUP;
        }
        char *reply = result == LINE_OK ? dispatch(session, line, length) : dispatch_too_long();
        if (!reply) {
            return END_NO_MEMORY;
        }
        bool sent = line_write(output, reply, strlen(reply));
        free(reply);
        if (!sent) {
            return END_HANGUP;
        }
    }
    return END_QUIT;
}

static void serve_connections(void *context, int fd) {
    cm_serve(context, fd);
}

static enum end serve(const char *device, int input, int output) {
    struct line_reader *reader = malloc(sizeof(*reader));
    struct session *session = session_open(device);
    enum end end = END_NO_MEMORY;
    if (reader && session) {
        line_reader_init(reader, input, serve_connections, session);
        end = converse(session, reader, output);
    }
    if (session) {
        session_close(session);
    }
    free(reader);
    return end;
}

int main(int argc, char **argv) {
    const char *device = NULL;
    if (argc >= 3 && strcmp(argv[1], "--device") == 0) {
        device = argv[2];
        argv += 2;
        argc -= 2;
    }
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fputs("usage: roceproof-agent [--device NAME] [CHANNEL]\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);

    enum end end = END_HANGUP;
    if (argc == 1) {
        end = serve(device, STDIN_FILENO, STDOUT_FILENO);
    } else {
        int channel = open(argv[1], O_RDWR | O_CLOEXEC);
        if (channel < 0) {
            fprintf(stderr, "roceproof-agent: %s: %s\n", argv[1], strerror(errno));
            return 2;
        }
        do {
            end = serve(device, channel, channel);
        } while (end == END_HANGUP);
        close(channel);
    }
    if (end == END_NO_MEMORY) {
        fputs("roceproof-agent: out of memory\n", stderr);
        return 1;
    }
    return 0;
}
