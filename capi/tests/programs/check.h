/* Checks of the test programs. */
#ifndef CHECK_H
#define CHECK_H

#include <mpress.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                                                              \
    do {                                                                                                          \
        if (!(holds)) {                                                                                           \
            fprintf(stderr, "%s:%d: %s does not hold; last error: %s\n", __FILE__, __LINE__, #holds, mpress_last_error()); \
            exit(1);                                                                                              \
        }                                                                                                         \
    } while (0)

#define OK(call) CHECK((call) == MPRESS_STATUS_OK)
#define FAILS(status, call) CHECK((call) == MPRESS_STATUS_##status)
/* The text of the last error is one line that contains these words. */
#define SAYS(words) CHECK(strstr(mpress_last_error(), words) != NULL && strchr(mpress_last_error(), '\n') == NULL)

/* Memory of exactly this length, so that valgrind sees every access past its end; of 1 byte for 0, which malloc
 * may refuse. */
static inline void *memory(size_t len)
{
    void *start = malloc(len > 0 ? len : 1);
    CHECK(start != NULL);
    return start;
}

/* A copy in memory of exactly this length. */
static inline unsigned char *copy(const void *from, size_t len)
{
    unsigned char *to = memory(len);
    memcpy(to, from, len);
    return to;
}

/* Reads all bits of these bytes, so that valgrind reports undefined ones. Reads by the library itself are not
 * judged (valgrind.supp). */
static inline void look_at(const void *start, size_t len)
{
    const unsigned char *bytes = start;
    unsigned parity = 0;
    for (size_t i = 0; i < len; i++)
        parity ^= bytes[i];
    /* A jump for each bit that the compiler cannot avoid. */
    volatile int seen = 0;
    for (int bit = 0; bit < 8; bit++)
        if (parity >> bit & 1)
            seen++;
}

/* Doubles that every codec for doubles makes smaller. */
static inline double *smooth(size_t count)
{
    double *field = memory(count * sizeof *field);
    for (size_t i = 0; i < count; i++)
        field[i] = 1.0 + (double)i * 0x1p-20;
    return field;
}

/* An engine that compresses every message that gets smaller. */
static inline mpress_engine *engine_with(const char *strategy)
{
    mpress_settings *settings;
    mpress_engine *engine;
    OK(mpress_settings_new(&settings));
    OK(mpress_settings_set(settings, "MPRESS_STRATEGY", strategy));
    OK(mpress_engine_new(settings, NULL, &engine));
    mpress_settings_free(settings);
    return engine;
}

#endif
