/* Frames: which are accepted, and which are refused. */
#include "check.h"

enum { COUNT = 2000 };
static const size_t LEN = COUNT * sizeof(double);

static unsigned char *frame_of(const mpress_engine *engine, const void *message, size_t len, size_t *frame_len)
{
    mpress_frame *frame;
    const void *data;
    OK(mpress_engine_encode(engine, message, len, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    CHECK(frame != NULL);
    OK(mpress_frame_bytes(frame, &data, frame_len));
    CHECK(*frame_len < len && mpress_may_be_frame(*frame_len));
    look_at(data, *frame_len);
    unsigned char *bytes = copy(data, *frame_len);
    mpress_frame_free(frame);
    return bytes;
}

/* Decodes arbitrary bytes into memory of exactly the right length. */
static mpress_status decode(const mpress_engine *engine, const void *frame, size_t len, size_t room)
{
    unsigned char *own = copy(frame, len), *message = memory(room);
    bool is_frame;
    size_t raw_len, decoded_len;
    OK(mpress_engine_is_frame(engine, own, len, &is_frame));
    mpress_status opened = mpress_engine_message_len(engine, own, len, &raw_len);
    mpress_status status = mpress_engine_decode(engine, own, len, message, room, &decoded_len);
    CHECK(opened == MPRESS_STATUS_OK || (status == opened && raw_len == 0 && decoded_len == 0));
    CHECK(status != MPRESS_STATUS_INTERNAL && status != MPRESS_STATUS_ARGUMENT);
    if (status == MPRESS_STATUS_OK)
        look_at(message, decoded_len);
    free(message);
    free(own);
    return status;
}

static void come_back(const mpress_engine *engine, const void *message, size_t len)
{
    size_t frame_len, message_len;
    unsigned char *frame = frame_of(engine, message, len, &frame_len);
    bool is_frame = false;
    OK(mpress_engine_is_frame(engine, frame, frame_len, &is_frame));
    CHECK(is_frame);
    OK(mpress_engine_message_len(engine, frame, frame_len, &message_len));
    CHECK(message_len == len);

    /* Memory beyond the message is unchanged. */
    unsigned char *back = memory(len + 3);
    memset(back, 0xee, len + 3);
    OK(mpress_engine_decode(engine, frame, frame_len, back, len + 3, &message_len));
    CHECK(message_len == len && memcmp(back, message, len) == 0);
    CHECK(back[len] == 0xee && back[len + 2] == 0xee);
    free(back);

    FAILS(ROOM, mpress_engine_decode(engine, frame, frame_len, NULL, 0, &message_len));
    CHECK(message_len == len);
    FAILS(ROOM, decode(engine, frame, frame_len, len - 1));
    SAYS("bytes needed");
    free(frame);
}

static void damaged(const mpress_engine *engine, const void *message, size_t len)
{
    size_t frame_len;
    unsigned char *frame = frame_of(engine, message, len, &frame_len);
    for (size_t cut = 0; cut < frame_len; cut += cut < 64 ? 1 : 31)
        FAILS(DAMAGED, decode(engine, frame, cut, len));
    unsigned char *longer = memory(frame_len + 8);
    memcpy(longer, frame, frame_len);
    memset(longer + frame_len, 0, 8);
    FAILS(DAMAGED, decode(engine, longer, frame_len + 8, len));
    free(longer);
    for (size_t bit = 0; bit < 8 * frame_len; bit += bit < 8 * 32 ? 1 : 41) {
        frame[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        mpress_status status = decode(engine, frame, frame_len, len);
        CHECK(status == MPRESS_STATUS_DAMAGED || status == MPRESS_STATUS_UNSUPPORTED);
        frame[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    OK(decode(engine, frame, frame_len, len));

    /* The frame of another job. */
    uint64_t numbers[MPRESS_HANDSHAKE_LEN];
    uint8_t mark[MPRESS_MARK_LEN];
    mpress_settings *settings;
    mpress_engine *other;
    bool is_frame = true;
    OK(mpress_settings_new(&settings));
    OK(mpress_handshake_numbers(settings, numbers));
    OK(mpress_handshake_mark(numbers, mark));
    OK(mpress_engine_new(settings, mark, &other));
    OK(mpress_engine_is_frame(other, frame, frame_len, &is_frame));
    CHECK(!is_frame);
    FAILS(DAMAGED, decode(other, frame, frame_len, len));
    mpress_engine_free(other);
    mpress_settings_free(settings);
    free(frame);
}

static void arguments(const mpress_engine *engine, const void *message)
{
    mpress_frame *frame = (mpress_frame *)&LEN;
    const void *data = &LEN;
    size_t len = 7;
    bool is_frame = true;
    unsigned char buffer[64] = {0};
    FAILS(ARGUMENT, mpress_engine_encode(NULL, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    SAYS("engine is NULL");
    CHECK(frame == NULL);
    FAILS(ARGUMENT, mpress_engine_encode(engine, NULL, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    FAILS(ARGUMENT, mpress_engine_encode(engine, message, SIZE_MAX, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    FAILS(ARGUMENT, mpress_engine_encode(engine, message, LEN, 7, MPRESS_DESTINATION_OTHER_NODE, &frame));
    FAILS(ARGUMENT, mpress_engine_encode(engine, message, LEN, MPRESS_KIND_F64, 2, &frame));
    SAYS("destination is 2");
    FAILS(ARGUMENT, mpress_engine_encode(engine, message, LEN, MPRESS_KIND_F64, -1, &frame));
    FAILS(ARGUMENT, mpress_engine_encode(engine, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, NULL));
    FAILS(ARGUMENT, mpress_frame_bytes(NULL, &data, &len));
    CHECK(data == NULL && len == 0);
    FAILS(ARGUMENT, mpress_engine_is_frame(NULL, buffer, 64, &is_frame));
    CHECK(!is_frame);
    FAILS(ARGUMENT, mpress_engine_is_frame(engine, NULL, 64, &is_frame));
    FAILS(ARGUMENT, mpress_engine_is_frame(engine, buffer, 64, NULL));
    FAILS(ARGUMENT, mpress_engine_message_len(NULL, buffer, 64, &len));
    FAILS(ARGUMENT, mpress_engine_message_len(engine, NULL, 64, &len));
    FAILS(ARGUMENT, mpress_engine_message_len(engine, buffer, 64, NULL));
    FAILS(ARGUMENT, mpress_engine_decode(NULL, buffer, 64, buffer, 64, &len));
    FAILS(ARGUMENT, mpress_engine_decode(engine, NULL, 64, buffer, 64, &len));
    FAILS(ARGUMENT, mpress_engine_decode(engine, message, 64, NULL, 64, &len));
    FAILS(ARGUMENT, mpress_engine_decode(engine, message, 64, buffer, 64, NULL));
    FAILS(ARGUMENT, mpress_engine_decode(engine, message, 64, buffer, SIZE_MAX, &len));
    FAILS(ARGUMENT, mpress_engine_decode(engine, buffer, 33, buffer + 32, 32, &len));
    SAYS("overlaps");
    FAILS(DAMAGED, mpress_engine_decode(engine, NULL, 0, buffer, 64, &len));
    OK(mpress_engine_is_frame(engine, NULL, 0, &is_frame));
    CHECK(!is_frame);

    /* Sent unchanged: short messages, those for the same node, and one of no bytes. */
    OK(mpress_engine_encode(engine, message, 1023, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    CHECK(frame == NULL);
    OK(mpress_engine_encode(engine, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_SAME_NODE, &frame));
    CHECK(frame == NULL);
    OK(mpress_engine_encode(engine, NULL, 0, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    CHECK(frame == NULL);
    CHECK(!mpress_may_be_frame(1024) && !mpress_may_be_frame(0) && mpress_may_be_frame(1021));
    mpress_frame_free(NULL);
    mpress_engine_free(NULL);
}

/* A frame lives longer than its engine. */
static void outlive(const void *message)
{
    mpress_engine *engine = engine_with("fixed:diffpack-fast");
    mpress_frame *frame;
    const void *data;
    size_t len;
    OK(mpress_engine_encode(engine, message, LEN, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    mpress_engine_free(engine);
    OK(mpress_frame_bytes(frame, &data, &len));
    unsigned char *bytes = copy(data, len);
    mpress_frame_free(frame);
    free(bytes);
}

int main(void)
{
    double *message = smooth(COUNT), *longer = smooth(300000);
    mpress_engine *engine = engine_with("fixed:diffpack-balanced");
    come_back(engine, message, LEN);
    come_back(engine, message, LEN - 3);
    come_back(engine, longer, 300000 * sizeof *longer); /* in blocks */
    damaged(engine, message, LEN);
    arguments(engine, message);
    outlive(message);
    mpress_engine_free(engine);
    free(longer);
    free(message);
    puts("well");
    return 0;
}
