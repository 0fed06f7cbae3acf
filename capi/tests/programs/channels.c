/* Messages that refer to earlier ones of their channel. */
#include "check.h"

enum { COUNT = 1000 };
static const size_t LEN = COUNT * sizeof(double);

/* Doubles between 1 and 2 that no codec predicts, each of which changes a little with each step. */
static void *field(int tag, uint64_t step)
{
    uint64_t *words = memory(LEN);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t word = (i + 1 + ((uint64_t)tag << 32)) * 0x9e3779b97f4a7c15u;
        word = (word ^ word >> 29) * 0xbf58476d1ce4e5b9u;
        words[i] = (uint64_t)0x3ff << 52 | (((word >> 12) + step * (word & 0x3f)) & (((uint64_t)1 << 52) - 1));
    }
    return words;
}

static mpress_engine *engine_of(int rank, const char *bytes)
{
    mpress_settings *settings;
    mpress_engine *engine;
    OK(mpress_settings_new(&settings));
    OK(mpress_settings_set(settings, "MPRESS_STRATEGY", "fixed:diffpack-fast"));
    OK(mpress_settings_set(settings, "MPRESS_MEMORY", bytes));
    OK(mpress_engine_with_memory(settings, NULL, rank, 2, &engine));
    mpress_settings_free(settings);
    return engine;
}

static mpress_frame *frame_of(const mpress_engine *engine, int peer, int tag, uint64_t step)
{
    void *message = field(tag, step);
    mpress_frame *frame;
    OK(mpress_engine_encode_on(engine, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, peer, 7, tag, &frame));
    CHECK(frame != NULL);
    /* The frame and what the engine keeps are copies. */
    memset(message, 0xee, LEN);
    free(message);
    return frame;
}

/* Decodes the frame of this message, or refuses it. Returns its length. */
static size_t deliver(const mpress_engine *engine, mpress_frame *frame, int tag, uint64_t step, bool refused)
{
    const void *data;
    size_t len, came;
    OK(mpress_frame_bytes(frame, &data, &len));
    look_at(data, len);
    if (refused) {
        FAILS(ROOM, mpress_engine_decode(engine, data, len, NULL, 0, &came));
        OK(mpress_engine_refuse(engine, data, len));
    } else {
        void *message = field(tag, step), *back = memory(LEN);
        OK(mpress_engine_decode(engine, data, len, back, LEN, &came));
        CHECK(came == LEN && memcmp(back, message, LEN) == 0);
        /* It changes nothing. */
        OK(mpress_engine_refuse(engine, data, len));
        free(back);
        free(message);
    }
    mpress_frame_free(frame);
    return len;
}

/* Both send a message of one channel. Returns the length of the frame to process 1, which may refuse it. */
static size_t exchange(mpress_engine *const engines[2], int tag, uint64_t step, bool refused)
{
    mpress_frame *there = frame_of(engines[0], 1, tag, step), *back = frame_of(engines[1], 0, tag, step);
    size_t len = deliver(engines[1], there, tag, step, refused);
    deliver(engines[0], back, tag, step, false);
    return len;
}

static void refer(void)
{
    mpress_engine *engines[2] = {engine_of(0, "1MiB"), engine_of(1, "1MiB")};
    /* The first message of a channel is not kept, the second is, and a later one says so. */
    for (uint64_t step = 0; step < 20; step++)
        for (int tag = 0; tag < 3; tag++) {
            size_t len = exchange(engines, tag, step, false);
            CHECK(step < 2 ? len > 6000 : step < 3 || len < 2500);
        }
    /* A receiver that does not have what a message refers to. */
    mpress_engine *others[2] = {engine_of(1, "1MiB"), engine_of(1, "0")};
    mpress_frame *frame = frame_of(engines[0], 1, 0, 20);
    const void *data;
    size_t len, came;
    OK(mpress_frame_bytes(frame, &data, &len));
    void *room = memory(LEN);
    for (int i = 0; i < 2; i++) {
        FAILS(DAMAGED, mpress_engine_decode(others[i], data, len, room, LEN, &came));
        SAYS("which is not here");
        CHECK(came == 0);
        mpress_engine_free(others[i]);
    }
    free(room);
    deliver(engines[1], frame, 0, 20, false);

    /* More than a sender has sent without an answer before it ceases to refer to others. */
    for (uint64_t step = 21; step < 100; step++)
        exchange(engines, 0, step, true);
    for (uint64_t step = 100; step < 120; step++)
        CHECK(exchange(engines, 0, step, false) < 2500 || step < 115);
    mpress_engine_free(engines[0]);
    mpress_engine_free(engines[1]);
}

/* If one of them has no memory, or none of an engine is asked for, nothing refers to earlier messages. */
static void no_memory(void)
{
    mpress_engine *engines[4] = {engine_of(0, "1MiB"), engine_of(1, "0"), engine_with("fixed:diffpack-fast"), engine_of(1, "1MiB")};
    for (int pair = 0; pair < 4; pair += 2) {
        for (uint64_t step = 0; step < 100; step++)
            CHECK(exchange(engines + pair, 0, step, false) > 6000);
        mpress_engine_free(engines[pair]);
        mpress_engine_free(engines[pair + 1]);
    }
}

static void arguments(void)
{
    mpress_engine *engine = (mpress_engine *)&LEN;
    mpress_frame *frame = (mpress_frame *)&LEN;
    unsigned char *message = field(0, 0);
    static const int WRONG[4][2] = {{2, 2}, {-1, 2}, {0, 0}, {0, -1}};
    for (int i = 0; i < 4; i++) {
        FAILS(ARGUMENT, mpress_engine_with_memory(NULL, NULL, WRONG[i][0], WRONG[i][1], &engine));
        SAYS("no process has rank");
        CHECK(engine == NULL);
    }
    FAILS(ARGUMENT, mpress_engine_with_memory(NULL, NULL, 0, 2, NULL));
    OK(mpress_engine_with_memory(NULL, message, 0, 2, &engine));
    for (int peer = -1; peer < 3; peer += 3) {
        FAILS(ARGUMENT, mpress_engine_encode_on(engine, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, peer, 0, 0, &frame));
        SAYS("no process has rank");
        CHECK(frame == NULL);
    }
    FAILS(ARGUMENT, mpress_engine_encode_on(NULL, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, 1, 0, 0, &frame));
    FAILS(ARGUMENT, mpress_engine_encode_on(engine, NULL, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, 1, 0, 0, &frame));
    FAILS(ARGUMENT, mpress_engine_encode_on(engine, message, LEN, 7, MPRESS_DESTINATION_OTHER_NODE, 1, 0, 0, &frame));
    FAILS(ARGUMENT, mpress_engine_encode_on(engine, message, LEN, MPRESS_KIND_F64, 2, 1, 0, 0, &frame));
    FAILS(ARGUMENT, mpress_engine_encode_on(engine, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, 1, 0, 0, NULL));
    OK(mpress_engine_encode_on(engine, NULL, 0, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, 1, 0, 0, &frame));
    CHECK(frame == NULL);
    FAILS(ARGUMENT, mpress_engine_refuse(NULL, message, LEN));
    FAILS(ARGUMENT, mpress_engine_refuse(engine, NULL, LEN));
    FAILS(DAMAGED, mpress_engine_refuse(engine, message, LEN));
    FAILS(DAMAGED, mpress_engine_refuse(engine, NULL, 0));
    mpress_engine_free(engine);
    free(message);
}

int main(void)
{
    refer();
    no_memory();
    arguments();
    puts("well");
    return 0;
}
