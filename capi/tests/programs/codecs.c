/* Every codec for every kind: round trips, and encoded messages that are damaged or have another
 * length. */
#include "check.h"

enum { MOST = 4096 };

static uint32_t state = 1;

static unsigned char any_byte(void)
{
    state = state * 1664525u + 1013904223u;
    return (unsigned char)(state >> 24);
}

/* Decodes arbitrary bytes into memory of exactly the right length. */
static mpress_status decode(const mpress_codec *codec, const void *wire, size_t wire_len, size_t raw_len)
{
    unsigned char *own = copy(wire, wire_len), *raw = memory(raw_len);
    mpress_status status = mpress_codec_decode(codec, own, wire_len, raw, raw_len);
    /* On success all of it is written; otherwise valgrind complains. */
    if (status == MPRESS_STATUS_OK)
        look_at(raw, raw_len);
    CHECK(status == MPRESS_STATUS_OK || status == MPRESS_STATUS_DAMAGED || status == MPRESS_STATUS_UNSUPPORTED);
    free(raw);
    free(own);
    return status;
}

static void damaged(const mpress_codec *codec, unsigned char *wire, size_t wire_len, size_t raw_len)
{
    for (size_t len = 0; len < wire_len; len += len < 64 ? 1 : 97)
        CHECK(decode(codec, wire, len, raw_len) != MPRESS_STATUS_OK);
    unsigned char *longer = memory(wire_len + 1);
    memcpy(longer, wire, wire_len);
    longer[wire_len] = 0;
    CHECK(decode(codec, longer, wire_len + 1, raw_len) != MPRESS_STATUS_OK);
    free(longer);
    CHECK(decode(codec, wire, wire_len, raw_len + 1) != MPRESS_STATUS_OK);
    if (raw_len > 0)
        CHECK(decode(codec, wire, wire_len, raw_len - 1) != MPRESS_STATUS_OK);
    /* Other damage may go unnoticed, but does no harm. */
    for (size_t at = 0; at < wire_len; at += at < 64 ? 1 : 61) {
        unsigned char before = wire[at];
        wire[at] ^= (unsigned char)(1u << (at % 8));
        decode(codec, wire, wire_len, raw_len);
        wire[at] = before;
    }
    unsigned char noise[256];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = any_byte();
    decode(codec, noise, sizeof noise, raw_len);
    /* It still works. */
    OK(decode(codec, wire, wire_len, raw_len));
}

static void round_trip(const mpress_codec *codec, const unsigned char *message, size_t len)
{
    size_t room, wire_len;
    unsigned char *raw = copy(message, len), *back = memory(len);
    OK(mpress_codec_max_encoded_len(codec, len, &room));
    unsigned char *wire = memory(room);
    OK(mpress_codec_encode(codec, raw, len, wire, room, &wire_len));
    CHECK(wire_len <= room);
    look_at(wire, wire_len);
    OK(mpress_codec_decode(codec, wire, wire_len, back, len));
    CHECK(memcmp(raw, back, len) == 0);
    damaged(codec, wire, wire_len, len);

    /* Too little room for the wire: the length that always suffices is returned. */
    if (wire_len > 0) {
        size_t less = wire_len - 1;
        unsigned char *small = memory(less);
        FAILS(ROOM, mpress_codec_encode(codec, raw, len, small, less, &wire_len));
        CHECK(wire_len == room);
        SAYS("bytes needed");
        free(small);
    }
    free(wire);
    free(back);
    free(raw);
}

static void arguments(const mpress_codec *codec)
{
    unsigned char raw[64] = {0}, wire[1024];
    size_t len = 7;
    FAILS(ARGUMENT, mpress_codec_max_encoded_len(NULL, 8, &len));
    SAYS("codec is NULL");
    CHECK(len == 0);
    FAILS(ARGUMENT, mpress_codec_max_encoded_len(codec, 8, NULL));
    SAYS("len is NULL");
    FAILS(ARGUMENT, mpress_codec_max_encoded_len(codec, SIZE_MAX, &len));
    FAILS(ARGUMENT, mpress_codec_encode(NULL, raw, 64, wire, sizeof wire, &len));
    FAILS(ARGUMENT, mpress_codec_encode(codec, NULL, 64, wire, sizeof wire, &len));
    SAYS("raw is NULL");
    FAILS(ARGUMENT, mpress_codec_encode(codec, raw, 64, NULL, sizeof wire, &len));
    SAYS("wire is NULL");
    FAILS(ARGUMENT, mpress_codec_encode(codec, raw, 64, wire, sizeof wire, NULL));
    FAILS(ARGUMENT, mpress_codec_encode(codec, raw, SIZE_MAX, wire, sizeof wire, &len));
    FAILS(ARGUMENT, mpress_codec_encode(codec, raw, (size_t)PTRDIFF_MAX + 1, wire, sizeof wire, &len));
    SAYS("no memory has");
    FAILS(ARGUMENT, mpress_codec_encode(codec, wire, 64, wire + 63, 512, &len));
    SAYS("overlaps");
    FAILS(ARGUMENT, mpress_codec_encode(codec, wire + 511, 64, wire, 512, &len));
    FAILS(ROOM, mpress_codec_encode(codec, raw, 64, NULL, 0, &len));
    CHECK(len >= 8);
    FAILS(ARGUMENT, mpress_codec_decode(NULL, wire, 8, raw, 64));
    FAILS(ARGUMENT, mpress_codec_decode(codec, NULL, 8, raw, 64));
    FAILS(ARGUMENT, mpress_codec_decode(codec, wire, 8, NULL, 64));
    FAILS(ARGUMENT, mpress_codec_decode(codec, wire, SIZE_MAX, raw, 64));
    FAILS(ARGUMENT, mpress_codec_decode(codec, wire, 8, raw, SIZE_MAX));
    FAILS(ARGUMENT, mpress_codec_decode(codec, wire, 64, wire, 64));
    FAILS(DAMAGED, mpress_codec_decode(codec, NULL, 0, raw, 64));
    /* A message of no bytes is valid. */
    OK(mpress_codec_encode(codec, NULL, 0, wire, sizeof wire, &len));
    OK(mpress_codec_decode(codec, wire, len, NULL, 0));
}

static void construction(void)
{
    mpress_codec *codec = (mpress_codec *)&state;
    FAILS(ARGUMENT, mpress_codec_new(NULL, MPRESS_KIND_F64, &codec));
    SAYS("name is NULL");
    CHECK(codec == NULL);
    FAILS(ARGUMENT, mpress_codec_new("dfcm", MPRESS_KIND_F64, NULL));
    FAILS(ARGUMENT, mpress_codec_new("dfcm", -1, &codec));
    SAYS("kind is -1");
    FAILS(ARGUMENT, mpress_codec_new("dfcm", MPRESS_KIND_F64 + 1, &codec));
    FAILS(ARGUMENT, mpress_codec_new("dfcm", 262, &codec)); /* 6 modulo 256 */
    FAILS(CODEC, mpress_codec_new("", MPRESS_KIND_F64, &codec));
    FAILS(CODEC, mpress_codec_new("raw", MPRESS_KIND_F64, &codec));
    FAILS(CODEC, mpress_codec_new("DFCM", MPRESS_KIND_F64, &codec));
    FAILS(CODEC, mpress_codec_new("\xff\xfe", MPRESS_KIND_F64, &codec));
    FAILS(CODEC, mpress_codec_new("dfcm", MPRESS_KIND_INT8, &codec));
    SAYS("codec dfcm is not made for kind int8");
    CHECK(codec == NULL);
    mpress_codec_free(NULL);
    CHECK(mpress_codec_name(SIZE_MAX) == NULL);
}

int main(void)
{
    const size_t lens[] = {0, 1, 7, 8, 1000, MOST};
    unsigned char *messages[3];
    messages[0] = (unsigned char *)smooth(MOST / sizeof(double));
    messages[1] = memory(MOST);
    messages[2] = memory(MOST);
    for (size_t i = 0; i < MOST; i++) {
        messages[1][i] = any_byte();
        messages[2][i] = 0;
    }
    const char *name;
    size_t made = 0, count = 0;
    for (; (name = mpress_codec_name(count)) != NULL; count++) {
        for (int kind = MPRESS_KIND_OTHER; kind <= MPRESS_KIND_F64; kind++) {
            mpress_codec *codec;
            mpress_status status = mpress_codec_new(name, kind, &codec);
            if (status == MPRESS_STATUS_CODEC)
                continue;
            CHECK(status == MPRESS_STATUS_OK);
            made++;
            for (size_t m = 0; m < 3; m++)
                for (size_t l = 0; l < sizeof lens / sizeof *lens; l++)
                    round_trip(codec, messages[m], lens[l]);
            arguments(codec);
            mpress_codec_free(codec);
        }
    }
    CHECK(count >= 10 && made >= 5 * count);
    construction();
    for (size_t m = 0; m < 3; m++)
        free(messages[m]);
    printf("%zu codecs, %zu with their kinds\n", count, made);
    return 0;
}
