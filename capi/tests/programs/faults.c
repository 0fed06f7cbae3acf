/* Programs with one fault each, selected by `argv[1]`. valgrind must report it; otherwise the other
 * programs prove nothing. */
#include "check.h"

enum { COUNT = 1000 };
static const size_t LEN = COUNT * sizeof(double);

/* Encodes and decodes a message, and reads the results. The memory for the last one lacks this many
 * bytes. */
static void there_and_back(const double *message, size_t len, size_t missing)
{
    mpress_codec *codec;
    size_t room, wire_len;
    OK(mpress_codec_new("rice", MPRESS_KIND_F64, &codec));
    OK(mpress_codec_max_encoded_len(codec, len, &room));
    void *wire = memory(room), *back = memory(len - missing);
    OK(mpress_codec_encode(codec, message, len, wire, room, &wire_len));
    look_at(wire, wire_len);
    OK(mpress_codec_decode(codec, wire, wire_len, back, len));
    look_at(back, len - missing);
    free(back);
    free(wire);
    mpress_codec_free(codec);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *fault = argv[1];
    double *message = smooth(COUNT), *unwritten = memory(LEN);
    mpress_settings *settings;
    char *text;
    OK(mpress_settings_new(&settings));
    OK(mpress_settings_text(settings, &text));

    if (strcmp(fault, "none") == 0)
        there_and_back(message, LEN, 0);
    else if (strcmp(fault, "undefined") == 0) /* of its own */
        look_at(unwritten, LEN);
    else if (strcmp(fault, "unwritten") == 0) /* which the library passes on */
        there_and_back(unwritten, LEN, 0);
    else if (strcmp(fault, "overread") == 0)
        there_and_back(message, LEN + sizeof(double), 0);
    else if (strcmp(fault, "overrun") == 0)
        there_and_back(message, LEN, sizeof(double));
    else if (strcmp(fault, "freed") == 0) {
        mpress_text_free(text);
        look_at(text, 1);
        text = NULL;
    } else if (strcmp(fault, "leak") == 0)
        settings = NULL;
    else
        CHECK(!"a fault");

    mpress_text_free(text);
    mpress_settings_free(settings);
    free(unwritten);
    free(message);
    puts("well");
    return 0;
}
