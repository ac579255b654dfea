// SPDX-License-Identifier: BSD-2-Clause
//
// look: what the host says of itself below /sys, /proc and /dev/infiniband: a file's first bytes, a
// directory's names, where a link leads, and what this user may do with it. Needs no RDMA device,
// since why there is none is what a person wants to know. Nothing else of the host is shown.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops/ops.h"
#include "protocol/args.h"

enum { MAX_TEXT = 8192, MAX_NAMES = 512 };

static const char *const places[] = {"/sys/", "/proc/", "/dev/infiniband"};

static bool is_shown(const char *path) {
    if (strstr(path, "..") || strlen(path) >= PATH_MAX) {
        return false;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (strncmp(path, places[i], strlen(places[i])) == 0) {
            return true;
        }
    }
    return false;
}

static json_t *names_in(const char *path) {
    json_t *names = json_array();
    DIR *dir = opendir(path);
    if (!dir) {
        return names;
    }
    const struct dirent *entry = NULL;
    while (json_array_size(names) < MAX_NAMES && (entry = readdir(dir))) {
        if (entry->d_name[0] != '.') {
            json_array_append_new(names, json_string(entry->d_name));
        }
    }
    closedir(dir);
    return names;
}

// JSON is UTF-8; a byte that may not be is shown as a question mark.
static json_t *text_of(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return NULL;
    }
    char text[MAX_TEXT];
    ssize_t length = read(file, text, sizeof(text));
    close(file);
    if (length < 0) {
        return NULL;
    }
    for (ssize_t i = 0; i < length; i++) {
        if (text[i] != '\n' && text[i] != '\t' && (text[i] < ' ' || text[i] > '~')) {
            text[i] = '?';
        }
    }
    return json_stringn(text, (size_t)length);
}

json_t *op_look(struct session *session, const json_t *request, struct fail *f) {
    (void)session;
    const char *path = NULL;
    if (!arg_string(request, "path", &path, f)) {
        return NULL;
    }
    if (!is_shown(path)) {
        fail_say(f, "'path' must be below /sys, /proc or /dev/infiniband, without '..'");
        return NULL;
    }
    // A link, such as /proc/self/root, must not lead elsewhere.
    char place[PATH_MAX];
    struct stat status;
    bool is_there = realpath(path, place) && stat(place, &status) == 0;
    if (is_there && !is_shown(place)) {
        fail_say(f, "'path' must not lead out of /sys, /proc and /dev/infiniband");
        return NULL;
    }
    json_t *reply = json_pack("{s:b, s:b, s:b}", "exists", is_there, "readable",
                              access(path, R_OK) == 0, "writable", access(path, W_OK) == 0);
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length > 0) {
        json_object_set_new(reply, "link", json_stringn(target, (size_t)length));
    }
    if (is_there && S_ISDIR(status.st_mode)) {
        json_object_set_new(reply, "names", names_in(path));
    } else if (is_there && S_ISREG(status.st_mode)) {
        json_t *text = text_of(path);
        json_object_set_new(reply, "text", text ? text : json_null());
    }
    return reply;
}
