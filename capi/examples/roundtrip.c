/*
 * Sends an array from one part of this program to another, as an MPI layer would: once with a codec, once
 * with the engine. Then shows what an error looks like.
 *
 *     cc -std=c99 roundtrip.c $(pkg-config --cflags --libs mpress) -lm && ./a.out
 */
#include <math.h>
#include <mpress.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 10000

/* Ends the program unless a call was successful. */
static void check(mpress_status status, const char *what)
{
    if (status != MPRESS_STATUS_OK) {
        fprintf(stderr, "%s: %s (%s)\n", what, mpress_last_error(), mpress_status_text(status));
        exit(1);
    }
}

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

/* A codec by name: the caller has the memory, and keeps the length of the message. */
static void with_a_codec(const double *message, size_t len)
{
    mpress_codec *codec;
    check(mpress_codec_new("diffpack-balanced", MPRESS_KIND_F64, &codec), "codec");

    size_t room, wire_len;
    check(mpress_codec_max_encoded_len(codec, len, &room), "length");
    void *wire = malloc(room);
    double *received = malloc(len);
    require(wire != NULL && received != NULL, "memory");

    check(mpress_codec_encode(codec, message, len, wire, room, &wire_len), "encode");
    check(mpress_codec_decode(codec, wire, wire_len, received, len), "decode");
    require(memcmp(received, message, len) == 0, "the codec gives the message back");
    require(wire_len < len, "the codec makes it smaller");
    printf("codec: %zu bytes in %zu\n", len, wire_len);

    free(received);
    free(wire);
    mpress_codec_free(codec);
}

/* The receiver knows only its buffer and the bytes that have arrived. */
static size_t receive(const mpress_engine *engine, const void *data, size_t data_len, void *buffer, size_t room)
{
    bool is_frame = false;
    size_t len = data_len;
    if (mpress_may_be_frame(data_len))
        check(mpress_engine_is_frame(engine, data, data_len, &is_frame), "is_frame");
    if (is_frame) {
        check(mpress_engine_decode(engine, data, data_len, buffer, room, &len), "decode");
    } else {
        require(data_len <= room, "the message fits");
        memcpy(buffer, data, data_len);
    }
    return len;
}

/* The engine: it decides whether to compress. Both ends have the same mark. */
static void with_the_engine(const double *message, size_t len)
{
    mpress_settings *settings;
    check(mpress_settings_from_env(&settings), "settings");

    /* With several processes: MPI_Allreduce(MPI_IN_PLACE, numbers, MPRESS_HANDSHAKE_LEN, MPI_UINT64_T, MPI_MIN, ...) */
    uint64_t numbers[MPRESS_HANDSHAKE_LEN];
    uint8_t mark[MPRESS_MARK_LEN];
    check(mpress_handshake_numbers(settings, numbers), "handshake");
    check(mpress_handshake_mark(numbers, mark), "handshake");

    mpress_engine *engine;
    check(mpress_engine_new(settings, mark, &engine), "engine");
    mpress_settings_free(settings);
    /* A network of 100 Mbit/s, shared by two processes. */
    check(mpress_engine_set_link(engine, 30.0, 6.0), "link");

    double *buffer = malloc(len);
    require(buffer != NULL, "memory");
    size_t sent = 0;
    for (int i = 0; i < 100; i++) {
        mpress_frame *frame;
        const void *data = message;
        size_t data_len = len;
        check(mpress_engine_encode(engine, message, len, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame), "encode");
        if (frame != NULL)
            check(mpress_frame_bytes(frame, &data, &data_len), "frame");
        sent += data_len; /* MPI_Send(data, data_len, MPI_BYTE, ...) */

        memset(buffer, 0, len);
        require(receive(engine, data, data_len, buffer, len) == len, "all of it comes");
        require(memcmp(buffer, message, len) == 0, "the engine gives the message back");
        mpress_frame_free(frame);
    }
    require(sent < 100 * len, "the engine compresses some of them");

    mpress_stats stats;
    check(mpress_engine_stats(engine, &stats), "statistics");
    require(stats.messages == 100 && stats.wire_bytes == sent, "the engine counts");
    char *text;
    check(mpress_engine_report(engine, NULL, NULL, 0, MPRESS_REPORT_FORM_SUMMARY, &text), "report");
    printf("%s", text);
    mpress_text_free(text);

    free(buffer);
    mpress_engine_free(engine);
}

static void with_errors(void)
{
    mpress_codec *codec;
    mpress_status status = mpress_codec_new("gzip", MPRESS_KIND_F64, &codec);
    require(status == MPRESS_STATUS_CODEC && codec == NULL, "there is no such codec");
    printf("error: %s\n", mpress_last_error());
    require(strcmp(mpress_last_error(), "no codec is called gzip") == 0, "the text of the error");
    printf("codecs:");
    const char *name;
    for (size_t i = 0; (name = mpress_codec_name(i)) != NULL; i++)
        printf(" %s", name);
    printf("\n");
}

int main(void)
{
    double *message = malloc(COUNT * sizeof *message);
    require(message != NULL, "memory");
    for (int i = 0; i < COUNT; i++)
        message[i] = 1.0 + 0.25 * sin(i * 1e-3);
    printf("mpress %s\n", mpress_version());
    with_a_codec(message, COUNT * sizeof *message);
    with_the_engine(message, COUNT * sizeof *message);
    with_errors();
    free(message);
    printf("all bytes came back\n");
    return 0;
}
