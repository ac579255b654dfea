// SPDX-License-Identifier: BSD-2-Clause
//
// The streamed source: pipes, and files in gzip. A packet that would straddle
// two pieces is moved to the next one, so that it lies whole and the packets
// before it stay where they are.

#define ZLIB_CONST

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "capture/pieces.h"
#include "capture/source.h"

enum {
    INPUT_BYTES = 1 << 16,
    GZIP_WINDOW_BITS = 15 + 16, // the largest, behind a gzip header
};

struct stream {
    struct roce_source source;
    int fd;
    struct roce_pieces pieces;
    bool is_gzip;
    bool member_ended; // gzip: at the end of the input or of a member
    z_stream zlib;
    const uint8_t *input; // read but not yet handed on
    size_t input_bytes;
    uint8_t buffer[INPUT_BYTES];
};

static size_t read_bytes(struct stream *stream, uint8_t *to, size_t room) {
    for (;;) {
        const ssize_t got = read(stream->fd, to, room);
        if (got >= 0) {
            stream->source.consumed += (size_t)got;
            return (size_t)got;
        }
        if (errno == EINTR)
            continue;
        snprintf(stream->source.error, sizeof stream->source.error, "the input cannot be read: %s",
                 strerror(errno));
        return 0;
    }
}

static bool read_input(struct stream *stream) {
    if (stream->input_bytes == 0) {
        stream->input = stream->buffer;
        stream->input_bytes = read_bytes(stream, stream->buffer, sizeof stream->buffer);
    }
    return stream->input_bytes != 0;
}

static size_t take_plain(struct stream *stream, uint8_t *to, size_t room) {
    if (stream->input_bytes == 0)
        return read_bytes(stream, to, room);
    const size_t bytes = room < stream->input_bytes ? room : stream->input_bytes;
    memcpy(to, stream->input, bytes);
    stream->input += bytes;
    stream->input_bytes -= bytes;
    return bytes;
}

static size_t fail_inflate(struct stream *stream) {
    const char *why = stream->zlib.msg ? stream->zlib.msg : "out of memory";
    snprintf(stream->source.error, sizeof stream->source.error, "the gzip data are damaged: %s",
             why);
    return 0;
}

static size_t take_gzip(struct stream *stream, uint8_t *to, size_t room) {
    z_stream *zlib = &stream->zlib;
    zlib->next_out = to;
    zlib->avail_out = (uInt)(room < INPUT_BYTES ? room : INPUT_BYTES);
    const uInt asked = zlib->avail_out;
    while (zlib->avail_out == asked) {
        if (!read_input(stream)) {
            if (stream->member_ended || stream->source.error[0])
                return 0;
            snprintf(stream->source.error, sizeof stream->source.error, "the gzip data end early");
            return 0;
        }
        if (stream->member_ended)
            inflateReset(zlib);
        zlib->next_in = stream->input;
        zlib->avail_in = (uInt)stream->input_bytes;
        const int status = inflate(zlib, Z_NO_FLUSH);
        stream->input = zlib->next_in;
        stream->input_bytes = zlib->avail_in;
        stream->member_ended = status == Z_STREAM_END;
        if (status != Z_OK && status != Z_STREAM_END && zlib->avail_out == asked)
            return fail_inflate(stream);
    }
    return asked - zlib->avail_out;
}

static bool fill_stream(struct roce_source *source, size_t bytes) {
    struct stream *stream = (struct stream *)source;
    struct roce_piece *piece = stream->pieces.current;
    const size_t ready = roce_source_ready(source);
    if (!piece || (size_t)(piece->bytes + piece->size - source->at) < bytes) {
        piece = roce_pieces_next(&stream->pieces, bytes, source->newest);
        if (!piece) {
            snprintf(source->error, sizeof source->error, "out of memory");
            return false;
        }
        if (ready)
            memcpy(piece->bytes, source->at, ready);
        source->at = piece->bytes;
        source->end = piece->bytes + ready;
    }
    while (roce_source_ready(source) < bytes) {
        uint8_t *to = piece->bytes + (source->end - piece->bytes);
        const size_t room = (size_t)(piece->bytes + piece->size - to);
        const size_t got =
            stream->is_gzip ? take_gzip(stream, to, room) : take_plain(stream, to, room);
        if (got == 0)
            return false;
        source->end += got;
        source->end_offset += got;
    }
    return true;
}

static void release_stream(struct roce_source *source, uint64_t number) {
    roce_pieces_release(&((struct stream *)source)->pieces, number);
}

static void close_stream(struct roce_source *source) {
    struct stream *stream = (struct stream *)source;
    if (stream->is_gzip)
        inflateEnd(&stream->zlib);
    roce_pieces_free(&stream->pieces);
    close(stream->fd);
    free(stream);
}

static bool starts_gzip(struct stream *stream) {
    stream->input = stream->buffer;
    while (stream->input_bytes < 2) {
        const size_t got = read_bytes(stream, stream->buffer + stream->input_bytes,
                                      sizeof stream->buffer - stream->input_bytes);
        if (got == 0)
            return false;
        stream->input_bytes += got;
    }
    return stream->buffer[0] == 0x1F && stream->buffer[1] == 0x8B;
}

struct roce_source *roce_source_stream(int fd, uint64_t size, char *error, size_t error_bytes) {
    static const struct roce_source_kind kind = {fill_stream, release_stream, close_stream};
    struct stream *stream = malloc(sizeof *stream);
    if (!stream) {
        snprintf(error, error_bytes, "out of memory");
        close(fd);
        return NULL;
    }
    *stream = (struct stream){.source = {.kind = &kind, .total = size}, .fd = fd};
    if (starts_gzip(stream)) {
        stream->is_gzip = inflateInit2(&stream->zlib, GZIP_WINDOW_BITS) == Z_OK;
        if (!stream->is_gzip)
            snprintf(stream->source.error, sizeof stream->source.error, "out of memory");
    }
    if (stream->source.error[0]) {
        snprintf(error, error_bytes, "%s", stream->source.error);
        close_stream(&stream->source);
        return NULL;
    }
    return &stream->source;
}
