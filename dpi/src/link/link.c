// SPDX-License-Identifier: BSD-2-Clause
//
// From a link's text to the link.

#include "link/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void link_count_nothing(struct link *link) {
    (void)link;
}

void link_comment(unsigned done, char text[LINK_COMMENT]) {
    static const char *const words[] = {
        "dropped: it finds the queue full", "lost on the line",        "arrives twice",
        "arrives behind those after it",    "a bit flips on the line", "CE: more waits than may"};
    size_t at = 0;
    text[0] = '\0';
    for (unsigned n = 0; n < sizeof words / sizeof words[0]; n++) {
        if (done >> n & 1) {
            at += (size_t)snprintf(text + at, LINK_COMMENT - at, "%s%s", at ? "; " : "", words[n]);
        }
    }
}

uint64_t link_next_unknown(const struct link *link) {
    (void)link;
    return 0;
}

static const char *after(const char *text, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static struct link *open_dgram(const char *paths, struct error *error) {
    char local[256];
    const char *comma = strchr(paths, ',');
    if (!comma || comma == paths || !comma[1] || (size_t)(comma - paths) >= sizeof local) {
        error_set(error, "link dgram:%s: expected dgram:LOCAL,REMOTE", paths);
        return NULL;
    }
    memcpy(local, paths, (size_t)(comma - paths));
    local[comma - paths] = '\0';
    return link_dgram_open(local, comma + 1, error);
}

static struct link *open_descriptor(const char *number, struct error *error) {
    char *end = NULL;
    int kind = 0;
    socklen_t size = sizeof kind;
    errno = 0;
    long fd = strtol(number, &end, 10);
    if (errno || end == number || *end || fd < 0 || fd > 1 << 20 ||
        getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) {
        error_set(error, "link fd:%s: not an open socket", number);
        return NULL;
    }
    return kind == SOCK_STREAM ? link_stream_adopt((int)fd, error)
                               : link_dgram_adopt((int)fd, error);
}

static struct link *open_pcap(const char *file, struct error *error) {
    static const char suffix[] = ",back-to-back";
    size_t length = strlen(file);
    size_t tail = sizeof suffix - 1;
    if (length <= tail || strcmp(file + length - tail, suffix) != 0) {
        return link_pcap_open(file, false, error);
    }
    char *path = strdup(file);
    if (!path) {
        error_set(error, "link pcap: out of memory");
        return NULL;
    }
    path[length - tail] = '\0';
    struct link *link = link_pcap_open(path, true, error);
    free(path);
    return link;
}

// line:WORDS;LINK
static struct link *open_line(const char *text, unsigned port, struct error *error) {
    const char *behind = strchr(text, ';');
    if (!behind || after(behind + 1, "line:") || strcmp(behind + 1, "lockstep") == 0) {
        error_set(error, "link line:%s: expected line:WORDS;LINK, with a link of frames", text);
        return NULL;
    }
    char *words = strndup(text, (size_t)(behind - text));
    if (!words) {
        error_set(error, "link line: out of memory");
        return NULL;
    }
    struct link *inner = link_open(behind + 1, port, NULL, false, error);
    struct link *link = inner ? link_line_open(words, inner, error) : NULL;
    free(words);
    return link;
}

struct link *link_open(const char *text, unsigned port, struct control *control, bool lockstep,
                       struct error *error) {
    const char *rest;
    if (strcmp(text, "lockstep") == 0) {
        return link_lockstep_open(port, control, lockstep, error);
    }
    if ((rest = after(text, "socket:"))) {
        return link_stream_connect(rest, error);
    }
    if ((rest = after(text, "socket-listen:"))) {
        return link_stream_listen(rest, error);
    }
    if ((rest = after(text, "dgram:"))) {
        return open_dgram(rest, error);
    }
    if ((rest = after(text, "fd:"))) {
        return open_descriptor(rest, error);
    }
    if ((rest = after(text, "tap:"))) {
        return link_tap_open(rest, error);
    }
    if ((rest = after(text, "pcap:"))) {
        return open_pcap(rest, error);
    }
    if ((rest = after(text, "line:"))) {
        return open_line(rest, port, error);
    }
    error_set(error,
              "link '%s': expected lockstep, socket:PATH, socket-listen:PATH, dgram:LOCAL,REMOTE, "
              "fd:N, tap:NAME, pcap:FILE or line:WORDS;LINK",
              text);
    return NULL;
}
