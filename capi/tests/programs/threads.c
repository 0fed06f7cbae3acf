/* Threads that share an engine and a codec, and have their own errors. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 50, COUNT = 1000 };

static mpress_engine *engine;
static mpress_codec *codec;

static void *work(void *argument)
{
    int number = *(int *)argument;
    size_t len = COUNT * sizeof(double), wire_len, back_len, room;
    double *message = smooth(COUNT), *back = smooth(COUNT);
    char name[16];
    CHECK(strcmp(mpress_last_error(), "") == 0);
    OK(mpress_codec_max_encoded_len(codec, len, &room));
    void *wire = memory(room);
    for (int i = 0; i < ROUNDS; i++) {
        mpress_frame *frame;
        mpress_codec *none;
        const void *data;
        message[0] = number * ROUNDS + i;
        OK(mpress_engine_encode(engine, message, len, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
        CHECK(frame != NULL);
        OK(mpress_frame_bytes(frame, &data, &wire_len));
        look_at(data, wire_len);
        OK(mpress_engine_decode(engine, data, wire_len, back, len, &back_len));
        CHECK(memcmp(message, back, len) == 0);
        mpress_frame_free(frame);
        OK(mpress_codec_encode(codec, message, len, wire, room, &wire_len));
        look_at(wire, wire_len);
        OK(mpress_codec_decode(codec, wire, wire_len, back, len));
        CHECK(memcmp(message, back, len) == 0);
        snprintf(name, sizeof name, "codec %d", number);
        FAILS(CODEC, mpress_codec_new(name, MPRESS_KIND_F64, &none));
        SAYS(name);
    }
    free(wire);
    free(back);
    free(message);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    mpress_stats stats;
    engine = engine_with("fixed:dfcm-lanes");
    OK(mpress_codec_new("diffpack-ratio", MPRESS_KIND_F64, &codec));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    OK(mpress_engine_stats(engine, &stats));
    CHECK(stats.messages == THREADS * ROUNDS && stats.decoded == THREADS * ROUNDS);
    mpress_codec_free(codec);
    mpress_engine_free(engine);
    puts("well");
    return 0;
}
